export { stop as default } from './start.ts';
