export * from './redact.ts';
