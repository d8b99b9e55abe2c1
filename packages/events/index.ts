export * from './analysis.ts';
export * from './envelope.ts';
export * from './facts.ts';
export * from './transcript.ts';
