/**
 * Whether this is the long run, with `TEST_RUN=long` as in .ci/run: tests that kill at random do so many times, and the
 * demo is seen to its end. A few kills find what is always wrong, many what is rarely wrong.
 */
export const long = process.env['TEST_RUN'] === 'long';
