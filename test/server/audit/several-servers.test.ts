import { describe, expect } from 'vitest'
import { linkEntries } from '../../../src/server/changes/audit-entry.ts'
import type { Store } from '../../../src/server/database/database.ts'
import { checkChain, readAuditLog } from '../../helpers/audit-log.ts'
import { countOutcomes, runAtOnceBy, sharedEngines, testOn } from '../../helpers/three-servers.ts'

async function linkAll(database: Store): Promise<void> {
  while (await database.write((transaction) => linkEntries(transaction, 7)));
}

for (const engine of sharedEngines) {
  const test = testOn(engine)

  describe.skipIf(engine.isMissing)(`three servers on ${engine.name}`, () => {
    test('concurrent writes become one chain, whoever links it', async ({ admin, servers }) => {
      const answers = await runAtOnceBy(servers, admin, 30, (server, index) =>
        server.post('/v1/courses', { title: `Course ${index}` }),
      )
      expect(countOutcomes(answers)).toEqual({ 201: 30 })
      await Promise.all(servers.map(({ database }) => linkAll(database)))
      const entries = await readAuditLog(admin)
      expect(checkChain(entries)).toMatchObject({ broken: 0, unlinked: 0, place: entries.length })
      const subjects = new Set(entries.map(({ subjectId }) => subjectId))
      expect(answers.every(({ body }) => subjects.has(body.id))).toBe(true)
    })

    test('later entries continue the chain', async ({ admin, servers }) => {
      await Promise.all(servers.map(({ database }) => linkAll(database)))
      const before = (await readAuditLog(admin)).at(-1)
      await admin.post('/v1/courses', { title: 'One more' })
      await linkAll(servers[1].database)
      const after = (await readAuditLog(admin)).at(-1)
      expect(after).toMatchObject({ place: (before?.place ?? 0) + 1, action: 'course.created' })
    })
  })
}
