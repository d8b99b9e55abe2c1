export { type CallsApi, type Query, Refusal, type Schemas } from './calls-api.ts';
export { toolNames } from './tools/tools.ts';
