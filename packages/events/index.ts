export * from './analysis.ts';
export * from './envelope.ts';
export * from './facts.ts';
export * from './scorecard.ts';
export * from './transcript.ts';
