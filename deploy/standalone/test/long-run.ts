/**
 * Whether this is the long run, with `TEST_RUN=long`: tests that kill at random do so many times, the demo is seen to its
 * end, and every link is spoilt in every way. A few kills find what is always wrong, many what is rarely wrong. .ci/run says
 * so for `npm test`, not for `npm run test:distributed`.
 */
export const long = process.env['TEST_RUN'] === 'long';
