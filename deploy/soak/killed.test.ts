import { it } from '@jest/globals';
import { expectNothingLeft } from './test/killed-soak.ts';

it('a killed soak leaves no process behind', () => expectNothingLeft([], 'SIGKILL'));

it('nor does one that is told twice to stop', () => expectNothingLeft([], 'SIGTERM', 'SIGTERM'));
