import base from './jest.config.js';

// Tests with third-party speech engines and a third-party language model. scripts/speech-servers.sh and
// scripts/model-server.sh install and start them and print the variables that these tests need.
export default { ...base, testMatch: ['**/*.real.test.ts'], testPathIgnorePatterns: ['/node_modules/'] };
