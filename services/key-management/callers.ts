import type { keyManagement } from '@call-analysis/proto';
import type { Callers } from '@call-analysis/rpc';

/** The services whose certificates may call each method of proto/key-management.proto. */
export const callers: Callers<typeof keyManagement> = {
  createKey: ['gateway'],
  listKeys: ['gateway'],
  deleteKey: ['gateway'],
  rotateKey: ['gateway'],
  verifyKeys: ['gateway'],
  findUser: ['gateway', 'admin'],
  findFirm: ['gateway', 'ingest', 'analysis'],
  openSession: ['gateway'],
  refreshSession: ['gateway'],
  closeSession: ['gateway'],
  listSessionKeys: ['gateway'],
  recordRefusals: ['gateway'],
  createFirm: ['admin'],
  removeFirm: ['admin'],
  listFirms: ['admin', 'ingest'],
  addSegmentType: ['admin'],
  createUser: ['gateway', 'admin'],
  listUsers: ['gateway', 'admin'],
  changeUser: ['gateway'],
  removeUser: ['gateway', 'admin'],
  updateFirm: ['gateway', 'admin'],
  recordToken: ['admin'],
  revokeTokens: ['admin'],
  createSignInCode: ['gateway', 'admin'],
  listAudit: ['gateway', 'admin'],
};
