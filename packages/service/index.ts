export { answer, present, type Sent } from './requests.ts';
export { type Actor, auditEntry } from './audit-entry.ts';
export { address, serviceConfig } from './config.ts';
export type { DatabaseConfig, ObjectsServiceConfig, RpcConfig } from './config.ts';
export { consume } from './consumers.ts';
export type { Consumer, Registered } from './consumers.ts';
export { defineService } from './define-service.ts';
export { type ApiRequest, apiRequest, apiRpc, PageRequest, type Person, requireCaller } from './requests.ts';
