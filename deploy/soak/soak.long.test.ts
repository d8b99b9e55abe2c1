import { it } from '@jest/globals';
import { shortRun } from './test/short-run.ts';

it(
  'a run with kills loses, doubles and orphans nothing, and tells of every call that ended',
  () => shortRun({ calls: 300, kills: 6, isDistributed: false }),
  900_000,
);
