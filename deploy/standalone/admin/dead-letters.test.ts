import { deadLetterSuite } from './test/dead-letter-suite.ts';

deadLetterSuite({});
