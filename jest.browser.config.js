import base from './jest.config.js';

// Tests of the console in a real Chromium: the one of CHROMIUM, or of the system. The run fails when there is none.
export default {
  ...base,
  testMatch: ['**/*.browser.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
