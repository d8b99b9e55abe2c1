import { jest } from '@jest/globals';

// For all tests of a file that imports this. What takes seconds here may take minutes on a machine that does much else;
// whether a test passes is not for the clock to say.
jest.setTimeout(300_000);
