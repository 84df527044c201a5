import { expect, test } from 'vitest';
import { manifestOf, verdict } from '../../src/logic/trial';

test('the fields make a job', () => {
  const job = JSON.parse(
    manifestOf({ pods: 4, cpu: '2', memory: '', gpus: 8, level: 'example.com/rack', minutes: 30 }),
  );
  expect(job.metadata.labels).toEqual({ 'kueue.x-k8s.io/max-exec-time-seconds': '1800' });
  expect(job.spec.parallelism).toBe(4);
  expect(job.spec.template.metadata.annotations).toEqual({
    'kueue.x-k8s.io/podset-required-topology': 'example.com/rack',
  });
  expect(job.spec.template.spec.containers[0].resources).toEqual({
    requests: { cpu: '2', 'nvidia.com/gpu': '8' },
    limits: { 'nvidia.com/gpu': '8' },
  });
  expect(
    JSON.parse(manifestOf({ pods: 1, cpu: '1', memory: '1Gi', gpus: 0, level: '', minutes: 0 })).metadata.labels,
  ).toBeUndefined();
});

test('the verdict is that of the first arrival', () => {
  expect(verdict({})).toEqual({ is: 'unqueued' });
  expect(verdict({ arrivals: [{ workload: 'w', got: 'main 2 x gpu' }] })).toEqual({
    is: 'starts',
    got: 'main 2 x gpu',
  });
  expect(
    verdict({
      arrivals: [
        {
          workload: 'w',
          explanation: { summary: 'full', changes: [{ text: 'raise it' }] },
          prediction: { summary: 'at noon' },
        },
      ],
    }),
  ).toEqual({ is: 'waits', when: 'at noon', why: 'full', changes: ['raise it'] });
});
