import { long } from '@call-analysis/testing';
import { it } from '@jest/globals';
import { shortRun } from './test/short-run.ts';

it(
  'a run with kills loses, doubles and orphans nothing, and tells of every call that ended',
  () => shortRun({ calls: long ? 300 : 60, kills: long ? 24 : 4, isDistributed: true }),
  900_000,
);
