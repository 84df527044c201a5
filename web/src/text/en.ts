// English. {name} stands for a value.
export const en = {
  // Navigation
  overview: 'Overview', queues: 'Queues', workloads: 'Workloads', topology: 'Topology', history: 'History',
  localQueues: 'Local queues', cohorts: 'Cohorts', flavors: 'Flavors', checks: 'Admission checks', more: 'More',
  menu: 'Menu', skip: 'Skip to the content', pages: 'Pages', breadcrumb: 'Path',
  // Settings
  theme: 'Theme', themeSystem: 'As the system', themeLight: 'Light', themeDark: 'Dark', language: 'Language', settings: 'Settings',
  signOut: 'Sign out', signedInAs: 'Signed in as {user}', allNamespaces: 'All namespaces', namespace: 'Namespace', version: 'Berth {version}',
  // Connection
  live: 'Live', connecting: 'Connecting …', lost: 'The connection to Berth is lost. Connecting again …',
  gone: 'Berth does not answer. Trying again …', loading: 'Loading …',
  // Login
  signIn: 'Sign in', token: 'Token', tokenHelp: 'A bearer token that your API server accepts, for example of `kubectl create token NAME`. What you see here is what this token may see.',
  sessionExpired: 'Your session has expired. Sign in again.', sessionEnded: 'You are signed out.', refused: 'The token was not accepted: {message}',
  checking: 'Signing in …', consoleOf: 'Console of the batch cluster',
  // Rights
  deniedTitle: 'You may not see this', deniedHelp: 'Ask an administrator for the right to {right}.', denied: 'No right: {message}',
  // Tables
  search: 'Search', noRows: 'Nothing here.', noMatch: 'Nothing matches the filters.', rowsOf: '{shown} of {all}', rows: '{all} rows', clearFilters: 'Clear filters',
  sortBy: 'Sort by {column}', name: 'Name', state: 'State', reason: 'Reason', age: 'Age', created: 'Created', since: 'Since', detail: 'Detail', count: 'Count', table: 'Table', showTable: 'Show as a table', showMap: 'Show as a map',
  expand: 'Open', collapse: 'Close', expandAll: 'Open all', collapseAll: 'Close all',
  // Objects
  clusterQueue: 'Cluster queue', localQueue: 'Local queue', queue: 'Queue', cohort: 'Cohort', flavor: 'Flavor', workload: 'Workload', node: 'Node', check: 'Admission check', parent: 'Parent', children: 'Below it', volcanoQueue: 'Volcano queue',
  kind: 'Kind', owner: 'Owner', priority: 'Priority', priorityClass: 'Priority class', position: 'Position', positionLocal: 'in its local queue', pods: 'Pods', resources: 'Resources', requests: 'Asks for', controller: 'Controller', parameters: 'Parameters', strategy: 'Order', labels: 'Labels', taints: 'Taints', tolerations: 'Tolerations', none: 'none', unlimited: 'unlimited', never: 'never', levels: 'Levels', className: 'Class', message: 'Message', provisioningRequests: 'Provisioning requests', type: 'Type', time: 'Time', from: 'From',
  // States of workloads
  pending: 'Waiting', quotaReserved: 'Quota reserved', admitted: 'Admitted', evicted: 'Evicted', inactive: 'Inactive', finished: 'Finished', succeeded: 'Succeeded', failed: 'Failed',
  waiting: 'Waiting', running: 'Hold quota', notFinished: 'Not finished', all: 'All', anyKind: 'Any kind', anyQueue: 'Any queue', anyState: 'State',
  active: 'Active', stopped: 'Stopped', stopHold: 'On hold', stopDrain: 'Drained', queueInactive: 'Inactive',
  // Quota
  quota: 'Quota', used: 'used', reserved: 'reserved', nominal: 'Nominal', borrowed: 'borrowed', lent: 'lent', free: 'free', borrowingLimit: 'Borrows at most', lendingLimit: 'Lends at most', usedOf: '{used} of {nominal}', lentAbout: 'about {amount} lent', borrowedOf: '{amount} borrowed', reservedNow: '{amount} reserved, not used yet',
  fairShare: 'Fair share', weight: 'Weight', share: 'Share', shareHelp: 'Weighted share: how far beyond its own quota it borrows. The queue with the lowest goes first.', preemption: 'Preemption', withinQueue: 'within the queue', withinCohort: 'reclaims in the cohort', whileBorrowing: 'while borrowing', pastUse: 'Used lately', usage: 'Usage', weights: 'Weights and shares', flavorsUsed: 'Flavors', holders: 'Who holds it', whoHolds: 'Who holds what', whoHoldsHelp: 'Reserved quota of each flavor by cluster queue', legendUsed: 'Used', legendReserved: 'Reserved, not used yet', legendBorrowed: 'Borrowed', legendLent: 'Lent (estimate)', legendFree: 'Free',
  // Overview
  waitingNow: 'waiting', holdQuotaNow: 'hold quota', oldest: 'oldest {age}', clusterQueuesNow: 'cluster queues', queuesShown: '{n} queues', nodesNow: 'nodes', notReadyNow: '{n} not ready', allReady: 'all ready', stoppedNow: '{n} stopped or inactive', allActive: 'all active', finishedHour: 'finished in the last hour', preemptedHour: '{n} preempted', attention: 'Needs attention', allWell: 'Nothing needs attention.', utilisation: 'Utilisation', utilisationHelp: 'Used quota of each flavor, in percent of its nominal quota', perMinute: 'Per minute', perMinuteHelp: 'Workloads admitted, preempted and finished each minute', whyPending: 'Why work waits', noPending: 'Nothing waits.', fewer: 'Fewer', preempted: 'Preempted', submitted: 'Submitted', admittedN: 'Admitted', finishedN: 'Finished', evictedN: 'Evicted', noSamples: 'Samples appear here after ten seconds.',
  a_queueInactive: 'Cluster queue is inactive', a_queueStopped: 'Cluster queue is stopped', a_localInactive: 'Local queue is not active', a_checkInactive: 'Admission check is not active', a_provisioningFailed: 'Provisioning failed', a_nodeDown: 'Node is not ready, and holds workloads', a_waitsLong: 'Waits for {age}', a_evictedOften: 'Evicted again and again', a_failed: 'Failed',
  // Workload
  expectedStart: 'Expected start', startAfter: 'after {time}', startHalf: '{time} or later', startHelp: 'P50 – P90', startDenied: 'You may not ask: get workloads/prediction.visibility.kueue.x-k8s.io', startRests: 'Rests on {basis}: {n}',
  why: 'Why it waits', whyHere: 'Why it runs there', explanationGone: 'No explanation: {message}', smallest: 'The smallest change that starts it now', noChange: 'No single change was found that starts it now.', ahead: 'Before it in the queue', nothingAhead: 'It is next.', missing: 'Missing', wanted: 'Wanted', available: 'Available', most: 'At most', places: 'Places', forecast: 'Enough is free at the latest {time}, if running work uses all of its time.', blockers: 'What keeps it from the queue', waitsFor: 'Waits for the eviction of', victims: 'Preempted for it', considered: 'Against other flavors', until: 'until {time}', timeline: 'Timeline', podsOnRacks: 'Pods on the racks', noPods: 'No pods now.', podsWait: 'Pods that do not run: {n}.', notPlaced: 'Not on a node', events: 'Events', noEvents: 'No events. The API server keeps them for about an hour.', yaml: 'YAML', copy: 'Copy', copied: 'Copied', conditions: 'Conditions', evictions: 'Evictions', lastEviction: 'Last eviction', onMap: 'Show on the map', moreHolders: '{n} more', gone404: 'It is not there any more.', t_created: 'Created', t_not: '{what}: False', t_requeue: 'Waits to be queued again', facts: 'Facts', again: 'Ask again', pc: 'Class',
  c_RaiseNominalQuota: 'Raise the nominal quota', c_RaiseBorrowingLimit: 'Raise the borrowing limit', c_EndWorkload: 'End a workload', c_RestoreNode: 'Bring back a node', c_ReducePods: 'Allow fewer pods',
  // Topology
  resource: 'Resource', colourBy: 'Colour by', byUse: 'Use', byWorkload: 'Workload', zoom: 'Size', fit: 'Fit', nodesShown: '{n} nodes', failedNodes: 'not ready', cordonedNodes: 'cordoned', noNodes: 'No nodes, or no right to list them.', noTopology: 'By node', mapHelp: 'Map of nodes. Arrow keys go from node to node, Enter opens the details.', usedPart: '{percent} used', otherPods: 'Pods without a workload', freeNodes: 'free nodes', fullNodes: 'full', partly: 'partly used', highlight: 'Workload', rack: 'Rack', block: 'Block', slots: 'Free nodes in a row of racks', notReady: 'Not ready', cordoned: 'Cordoned', close: 'Close', emptyNode: 'No workloads on it.', empty: 'empty',
  // History
  historyHelp: 'Each line is a workload. Move the pointer or the slider to see one moment.', noHistory: 'This controller keeps no journal, so there is no history.', noStrips: 'Nothing happened in this time.', truncated: 'Only the first {n} workloads are shown. Choose a queue or a shorter time.', range: 'Range', moment: 'Moment', h_waiting: 'Waiting', h_reserved: 'Quota reserved', h_admitted: 'Admitted', atMoment: 'At {time}: {waiting} waiting, {reserved} with quota reserved, {admitted} admitted', earlier: 'Earlier', later: 'Later', now: 'Now', kept: 'Kept since {time}', lastNight: 'Last night', endedBy: 'Ended: {end}', asStrips: 'Strips', asTable: 'Table', view: 'View', waitedFor: 'Waited', heldFor: 'Held quota', times: 'Admissions', began: 'Began', ended: 'Ended', outcome: 'Outcome', stillWaits: 'waits', stillRuns: 'holds quota',
  // Changes
  stop: 'Stop', stopHoldDo: 'Hold: admit nothing more', stopDrainDo: 'Hold and drain: also evict what runs', resume: 'Resume', activate: 'Activate', deactivate: 'Deactivate', cancel: 'Cancel', confirm: 'Confirm', done: 'Done.', failedDo: 'Not done: {message}',
  askStop: 'Stop {name}?', askResume: 'Resume {name}?', askActivate: 'Activate {name}?', askDeactivate: 'Deactivate {name}?', askDeactivateHelp: 'It loses its quota, its pods stop, and it does not wait any more until it is activated again.', askActivateHelp: 'It waits in its queue again.', askResumeHelp: 'The queue admits workloads again.', askStopHelp: 'It is done with your own rights.',
  notAllowed: 'you may not see this',
  mayNotChange: 'You may not change this: {right}',
  holdsQuotaNow: 'Hold quota',
  noEventsYet: 'No events yet.',
  perRack: 'Totals per rack',
  freeOf: 'Free',
  tryJob: 'Try a job',
  tryHelp: 'Nothing is created. The job goes through the API server as a dry run with your own rights, and is then tried on a copy of the queues.',
  fillFields: 'Fill in',
  pasteManifest: 'Manifest',
  chooseNamespace: 'Namespace',
  asManifest: 'The queue of the manifest',
  f_pods: 'Pods',
  f_cpu: 'CPUs of a pod',
  f_memory: 'Memory of a pod',
  f_gpus: 'GPUs of a pod',
  f_level: 'All pods in one',
  f_anywhere: 'anywhere',
  f_minutes: 'At most so many minutes',
  tryIt: 'Try it',
  trying: 'Trying …',
  startsNow: 'It starts now: {got}',
  waitsThen: 'It waits. {when}',
  notQueued: 'It is not queued.',
  preemptsThese: 'It preempts',
  preemptsOthers: 'and {n} workloads of other namespaces',
  eachStarts: 'Each of these changes alone starts it now',
  inOtherQueues: 'In the other local queues',
  notTried: 'No answer: {message}',
  myWork: 'My work',
  myWorkHelp: 'Namespaces: {namespaces}',
  nextUp: 'Waits, the next first',
  endedLately: 'Ended in the last hour',
  myQueues: 'My queues',
  myQueuesHelp: 'Reserved quota, and of how much where you may see the cluster queue',
  searchAll: 'Search workloads, queues, flavors, pages',
  page: 'Page',
  noHits: 'Nothing has this in its name.',
  notFound: 'There is no such page.', unknownObject: '{name} is not there, or you may not see it.', backHome: 'To the overview', pendingWorkloads: 'Its workloads', appliesTo: 'Used by', nodesOf: 'Nodes with its labels',
};

export type Key = keyof typeof en;
