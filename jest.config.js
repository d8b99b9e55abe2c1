export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/deploy', '<rootDir>/scripts'],
  testMatch: ['**/*.test.ts'],
  // These need servers or a browser: see jest.real.config.js, jest.distributed.config.js and jest.browser.config.js.
  // Those named long run with TEST_RUN=long.
  testPathIgnorePatterns: [
    '/node_modules/',
    `\\.(real|distributed|browser${process.env['TEST_RUN'] === 'long' ? '' : '|long'})\\.test\\.ts$`,
  ],
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  transform: { '\\.ts$': '<rootDir>/scripts/strip-types.js' },
  testSequencer: '<rootDir>/scripts/test-sequencer.js',
  globalSetup: '<rootDir>/packages/testing/jest/start.ts',
  globalTeardown: '<rootDir>/packages/testing/jest/stop.ts',
  testTimeout: 180_000,
  // Tests wait for a third of their time, and some for most of it.
  maxWorkers: 4,
  // The modules of a test file stay in memory after it (about 10 MB a file), and beyond this size collecting garbage takes as
  // much processor time as testing: without the limit the last files ran at half their speed in workers of 2.9 GB.
  workerIdleMemoryLimit: '500MB',
};
