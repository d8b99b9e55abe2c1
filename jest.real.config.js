import base from './jest.config.js';

// Tests with third-party speech engines. scripts/speech-servers.sh installs and starts them and prints the variables that
// these tests need.
const { globalSetup: _setup, globalTeardown: _teardown, ...rest } = base;
export default { ...rest, testMatch: ['**/*.real.test.ts'], testPathIgnorePatterns: ['/node_modules/'] };
