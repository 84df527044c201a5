// Buttons that change something, each with a question first. Shown only when the server allows changes.
import { useState, type ReactNode } from 'react';
import { Button, Dialog, DialogTrigger, Heading, Modal, ModalOverlay, Radio, RadioGroup } from 'react-aria-components';
import { post, url, type ApiError } from '../data/api';
import { useFetched } from '../data/hooks';
import { useInfo } from '../data/session';
import { useText } from '../text';

function Ask({
  label,
  title,
  help,
  run,
  danger,
  children,
}: {
  label: string;
  title: string;
  help: string;
  run: () => Promise<unknown>;
  danger?: boolean;
  children?: ReactNode;
}) {
  const { t } = useText();
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  return (
    <DialogTrigger onOpenChange={() => setError('')}>
      <Button className={danger ? 'button danger' : 'button'}>{label}</Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog" role="alertdialog">
            {({ close }) => (
              <>
                <Heading slot="title">{title}</Heading>
                <p>{help}</p>
                {children}
                {error && (
                  <p className="error" role="alert">
                    {t('failedDo', { message: error })}
                  </p>
                )}
                <div className="buttons">
                  <Button className="button" onPress={close} autoFocus>
                    {t('cancel')}
                  </Button>
                  <Button
                    className={danger ? 'button primary danger' : 'button primary'}
                    isDisabled={busy}
                    onPress={() => {
                      setBusy(true);
                      run()
                        .then(close, (e: ApiError) => setError(e.message))
                        .finally(() => setBusy(false));
                    }}
                  >
                    {label}
                  </Button>
                </div>
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

// Whether this user may change the object; undefined: not known yet. Nobody may in a console without --allow-changes.
function useMay(resource: string, ns: string | undefined, name: string): { allowed: boolean } | undefined {
  const info = useInfo();
  const { data } = useFetched<{ allowed: boolean }>(
    info?.allowChanges ? url('/api/may', { resource, namespace: ns, name }) : null,
  );
  return info?.allowChanges ? data : undefined;
}

function MayNot({ resource }: { resource: string }) {
  const { t } = useText();
  return <p className="quiet small may-not">{t('mayNotChange', { right: `patch ${resource}.kueue.x-k8s.io` })}</p>;
}

export function QueueChanges({
  resource,
  ns,
  name,
  stop,
}: {
  resource: 'clusterqueues' | 'localqueues';
  ns?: string;
  name: string;
  stop: string;
}) {
  const { t } = useText();
  const may = useMay(resource, ns, name);
  const [policy, setPolicy] = useState('Hold');
  if (!may) return null;
  if (!may.allowed) return <MayNot resource={resource} />;
  const send = (body: object) => post('/api/changes', { resource, namespace: ns, name, ...body });
  if (stop && stop !== 'None')
    return (
      <Ask
        label={t('resume')}
        title={t('askResume', { name })}
        help={t('askResumeHelp')}
        run={() => send({ action: 'resume' })}
      />
    );
  return (
    <Ask
      label={t('stop')}
      title={t('askStop', { name })}
      help={t('askStopHelp')}
      danger
      run={() => send({ action: 'stop', policy })}
    >
      <RadioGroup className="radios" value={policy} onChange={setPolicy} aria-label={t('stop')}>
        <Radio value="Hold">{t('stopHoldDo')}</Radio>
        <Radio value="HoldAndDrain">{t('stopDrainDo')}</Radio>
      </RadioGroup>
    </Ask>
  );
}

export function WorkloadChanges({ ns, name, inactive }: { ns: string; name: string; inactive: boolean }) {
  const { t } = useText();
  const may = useMay('workloads', ns, name);
  if (!may) return null;
  if (!may.allowed) return <MayNot resource="workloads" />;
  const send = (action: string) => () => post('/api/changes', { action, namespace: ns, name });
  return inactive ? (
    <Ask label={t('activate')} title={t('askActivate', { name })} help={t('askActivateHelp')} run={send('activate')} />
  ) : (
    <Ask
      label={t('deactivate')}
      title={t('askDeactivate', { name })}
      help={t('askDeactivateHelp')}
      danger
      run={send('deactivate')}
    />
  );
}
