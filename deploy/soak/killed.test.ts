import { it } from '@jest/globals';
import { expectNothingLeft } from './test/killed-soak.ts';

it('a killed soak leaves no process behind', () => expectNothingLeft([], 'SIGKILL'));

it('a soak that gets SIGTERM twice leaves no process behind', () => expectNothingLeft([], 'SIGTERM', 'SIGTERM'));
