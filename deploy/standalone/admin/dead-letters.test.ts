import { deadLetterSuite } from '../test/dead-letters.ts';

deadLetterSuite({});
