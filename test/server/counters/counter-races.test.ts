import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { foldChanges } from '../../../src/server/counters/count.ts'
import { countDifferingCounters } from '../../../src/server/counters/counter-check.ts'
import { randomRuns } from '../../helpers/random.ts'
import { runAtOnce, sharedEngines, testOn } from '../../helpers/three-servers.ts'
import { anyWrite, initialWrites, sendWrite } from './any-write.ts'

for (const engine of sharedEngines) {
  const test = testOn(engine)

  describe.skipIf(engine.isMissing)(`three servers on ${engine.name}`, () => {
    test('after any concurrent writes and folding, the counters equal a recount', async ({
      admin,
      clock,
      servers,
    }) => {
      const now = clock.now().toISOString()
      const fold = ({ database }: (typeof servers)[number]) =>
        database.write((transaction) => foldChanges({ database: transaction, now }, 20))
      for (const one of initialWrites) await sendWrite(servers[0], admin, one)
      await fc.assert(
        fc.asyncProperty(fc.array(anyWrite, { minLength: 15, maxLength: 25 }), async (writes) => {
          const answers = await runAtOnce(servers, writes.length, async (server, index) => {
            const write = writes[index]
            if (index % 10 === 9) await fold(server)
            return write && sendWrite(server, server.bearer(`Bearer ${admin.key}`), write)
          })
          expect(answers.filter((answer) => (answer?.status ?? 200) >= 500)).toEqual([])
          expect(await countDifferingCounters({ database: servers[0].database, now })).toBe(0)
        }),
        { numRuns: randomRuns(2, 6), endOnFailure: true },
      )
    })
  })
}
