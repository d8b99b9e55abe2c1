export default {
  testEnvironment: '<rootDir>/packages/testing/jest/environment.ts',
  runtime: '<rootDir>/packages/testing/jest/runtime.ts',
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/deploy', '<rootDir>/scripts'],
  testMatch: ['**/*.test.ts'],
  // These need servers or a browser: see jest.real.config.js, jest.distributed.config.js and jest.browser.config.js.
  // Those named long run with TEST_RUN=long.
  testPathIgnorePatterns: [
    '/node_modules/',
    `\\.(real|distributed|browser${process.env['TEST_RUN'] === 'long' ? '' : '|long'})\\.test\\.ts$`,
  ],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  // Node strips the types.
  transform: {},
  globalSetup: '<rootDir>/packages/testing/jest/start.ts',
  globalTeardown: '<rootDir>/packages/testing/jest/stop.ts',
  // On a busy machine, seconds may become minutes, and a slow test must not fail for that. A helper that several files import
  // cannot set this: it is loaded for the first of them only.
  testTimeout: 300_000,
  workerIdleMemoryLimit: '500MB',
};
