import base from './jest.config.js';

// Tests of the console in Chromium, which has to be installed.
export default {
  ...base,
  testMatch: ['**/*.browser.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
};
