import { it } from '@jest/globals';
import { expectNothingLeft } from './test/killed-soak.ts';

it(
  'a killed soak on six processes leaves none of them behind',
  () => expectNothingLeft(['--distributed'], 'SIGKILL'),
  240_000,
);
