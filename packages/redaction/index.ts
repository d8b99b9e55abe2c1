export * from './redact.ts';
export { KINDS, type Kind } from './finding.ts';
