/**
 * Whether this is a long run (`TEST_RUN=long`): more random kills, the complete demo, and every fault on every link. Few
 * kills find defects that always show; many kills find those that show rarely.
 */
export const long = process.env['TEST_RUN'] === 'long';
