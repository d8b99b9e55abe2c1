/** Between whom something stands that may fail. `services` are all that have it. */
export const EDGES = [
  'client → gateway',
  'client → store',
  'gateway → key-management',
  'gateway → ingest',
  'gateway → audio',
  'gateway → analysis',
  'audio → ingest',
  'ingest → key-management',
  'analysis → key-management',
  'services → database',
  'services → store',
  'services → kafka',
] as const;
export type Edge = (typeof EDGES)[number];

export const FAULTS = ['refused', 'black hole', 'reset', 'slow', 'narrow', 'half-open', 'no name'] as const;
export type Fault = (typeof FAULTS)[number];
