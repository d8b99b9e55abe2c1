import { jest } from '@jest/globals';

// Applies to all tests of a file that imports this. On a busy machine, seconds may become minutes, and a slow test must
// not fail for that.
jest.setTimeout(300_000);
