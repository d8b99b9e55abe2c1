import type { keyManagement } from '@call-analysis/proto';
import type { Callers } from '@call-analysis/rpc';

/** Who may call a method of proto/key-management.proto, where it is not the gateway alone. */
export const callers: Callers<typeof keyManagement> = {
  findUser: ['gateway', 'admin'],
  findFirm: ['gateway', 'ingest', 'analysis'],
  createFirm: ['admin'],
  removeFirm: ['admin'],
  listFirms: ['admin', 'ingest'],
  addSegmentType: ['admin'],
  createUser: ['gateway', 'admin'],
  listUsers: ['gateway', 'admin'],
  removeUser: ['gateway', 'admin'],
  updateFirm: ['gateway', 'admin'],
  recordToken: ['admin'],
  revokeTokens: ['admin'],
  createSignInCode: ['gateway', 'admin'],
  listAudit: ['gateway', 'admin'],
};
