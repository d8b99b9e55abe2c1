import base from './jest.config.js';

// Tests against programs that are not ours. scripts/speech-servers.sh installs and starts them, and says where they are;
// without them every test fails.
const { globalSetup: _setup, globalTeardown: _teardown, ...rest } = base;
export default { ...rest, testMatch: ['**/*.real.test.ts'], testPathIgnorePatterns: ['/node_modules/'] };
