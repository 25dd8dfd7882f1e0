import { describe, expect } from 'vitest'
import { createChainCheck } from '../../../src/cli/audit/verify-audit.ts'
import type { AuditEntry } from '../../../src/contract/audit.ts'
import { linkEntries } from '../../../src/server/changes/audit-chain.ts'
import type { Store } from '../../../src/server/database/database.ts'
import type { Person } from '../../helpers/academy.ts'
import { countOutcomes, runAtOnceBy, sharedEngines, testOn } from '../../helpers/three-servers.ts'

/** Returns all entries in the order of the chain. */
async function wholeLog(admin: Person): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await admin.get(`/v1/audit?sort=place&limit=100${more}`)
    entries.push(...body.data)
    cursor = body.nextCursor
  }
  return entries
}

async function linkAll(database: Store): Promise<void> {
  while (await database.write((transaction) => linkEntries(transaction, 7)));
}

for (const engine of sharedEngines) {
  const test = testOn(engine)

  describe.skipIf(engine.isMissing)(`three servers on ${engine.name}`, () => {
    test('concurrent writes become one chain, however many servers link it at the same time', async ({
      admin,
      servers,
    }) => {
      const answers = await runAtOnceBy(servers, admin, 30, (server, index) =>
        server.post('/v1/courses', { title: `Course ${index}` }),
      )
      expect(countOutcomes(answers)).toEqual({ 201: 30 })
      await Promise.all(servers.map(({ database }) => linkAll(database)))
      const entries = await wholeLog(admin)
      const check = createChainCheck([])
      for (const entry of entries) check.add(entry)
      expect(check.report()).toMatchObject({ broken: 0, unlinked: 0, place: entries.length })
      const subjects = new Set(entries.map(({ subjectId }) => subjectId))
      expect(answers.every(({ body }) => subjects.has(body.id))).toBe(true)
    })

    test('later entries continue the chain', async ({ admin, servers }) => {
      await Promise.all(servers.map(({ database }) => linkAll(database)))
      const before = (await wholeLog(admin)).at(-1)
      await admin.post('/v1/courses', { title: 'One more' })
      await linkAll(servers[1].database)
      const after = (await wholeLog(admin)).at(-1)
      expect(after).toMatchObject({ place: (before?.place ?? 0) + 1, action: 'course.created' })
    })
  })
}
