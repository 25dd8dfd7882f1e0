import { beforeAll, describe, expect } from 'vitest'
import { test as base } from '../server/socket/served.ts'
import { clear, generated, isInstalled, run, writeDocument } from './installed.ts'
import type { Story } from './programs/story.ts'

const test = base
const columns =
  'learnerId,email,firstName,lastName,externalId,courseId,courseTitle,difficulty,enrollmentStatus,enrolledAt,progressStatus,completionPercentage,startedAt,lastAccessed,completedAt,gradePercent,passed,gradeUpdatedAt,courseExternalId'

// This client cannot request text.
const withoutCsv = ['orval']

describe.runIf(isInstalled)('a client that others generate from the document', () => {
  beforeAll(() => {
    clear()
    writeDocument(generated)
  })

  test.for([
    [
      'openapi-typescript',
      'openapi-typescript/bin/cli.js',
      ['generated/openapi.json', '-o', 'generated/openapi-typescript.ts'],
    ],
    ['hey-api', '@hey-api/openapi-ts/bin/run.js', ['-f', 'hey-api.config.ts']],
    ['orval', 'orval/dist/bin/orval.js', ['--config', 'orval.config.cjs']],
  ] as const)(
    'by %s asks, updates, is refused and records as its types say',
    async ([name, script, args], { served }) => {
      await run(script, args, { ACADEMY_URL: served.address })
      // Generated at run time: the compiler of the project must not resolve it.
      const { runStory } = (await import(`./programs/${name}.ts`)) as {
        runStory: (url: string, key: string) => Promise<Story>
      }
      expect(await runStory(served.address, served.key)).toEqual({
        version: 1,
        titles: ['Marine Biology'],
        total: 1,
        modified: ['description'],
        stale: [412, 'precondition_failed'],
        pointers: ['#/title'],
        progress: 'in_progress',
        columns: withoutCsv.includes(name) ? '' : columns,
      } satisfies Story)
    },
  )

  test('compiles, strictly', async () => {
    expect(await run('typescript/bin/tsc', ['-p', '.'])).toBe('')
  })
})
