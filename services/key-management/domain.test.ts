import { UserRole } from '@call-analysis/api/access';
import { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import { requireRole } from './domain.ts';

describe('a role', () => {
  it.each(UserRole.options)('%s is allowed where it is listed and forbidden where it is not', (role) => {
    const caller = { name: 'someone', address: '127.0.0.1', role };
    expect(() => requireRole(caller, [role], 'Doing this')).not.toThrow();
    const others = UserRole.options.filter((each) => each !== role);
    expect(() => requireRole(caller, others, 'Doing this')).toThrow(
      expect.objectContaining({ kind: 'forbidden', code: 'FORBIDDEN' }),
    );
  });

  it('that is unknown is forbidden everything', () => {
    for (const role of ['', 'superuser', 'ROOT', '__proto__']) {
      expect(() => requireRole({ name: 'x', address: 'x', role }, UserRole.options, 'Doing this')).toThrow(Fault);
    }
  });
});
