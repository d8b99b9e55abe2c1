export { stop as default } from './start-distributed.ts';
