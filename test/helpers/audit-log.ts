import { createChainCheck } from '../../src/cli/audit/verify-audit.ts'
import type { AuditEntry } from '../../src/contract/audit.ts'
import { readPages } from './pages.ts'
import type { Person } from './test-academy.ts'

/** Reads the whole audit log in the order of its chain. */
export function readAuditLog(admin: Person): Promise<AuditEntry[]> {
  return readPages<AuditEntry>(admin, '/v1/audit?sort=place')
}

/** Reports whether entries form a chain. */
export function checkChain(entries: readonly AuditEntry[]) {
  const check = createChainCheck([])
  for (const entry of entries) check.add(entry)
  return check.report()
}
