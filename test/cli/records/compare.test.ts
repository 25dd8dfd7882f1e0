import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { randomRuns } from '../../helpers/random.ts'
import { resultOf } from '../../helpers/result.ts'

type Fields = Record<string, unknown>

const early = '2026-01-05T08:00:00.000Z'
const files: readonly (readonly [noun: string, records: readonly Fields[]])[] = [
  [
    'courses',
    [
      { externalId: 'C', title: 'Sea', status: 'published', tags: ['a'], modules: [{ title: 'Tides' }] },
      { externalId: 'D', title: 'Sky', status: 'draft', description: 'High' },
      { title: 'Nameless', status: 'published' },
    ],
  ],
  [
    'lessons',
    [
      {
        externalId: 'L',
        courseId: 'ext:C',
        module: 'Tides',
        title: 'Ebb',
        contentBlocks: [{ type: 'markdown', title: 'One', body: 'Text' }],
        assessments: [{ type: 'quiz', title: 'Test', questions: [{ type: 'essay', prompt: 'Why?' }] }],
      },
      { externalId: 'M', courseId: 'ext:C', title: 'Flow' },
    ],
  ],
  [
    'users',
    [
      { externalId: '1', email: 'a@b.example', role: 'learner', profile: { firstName: 'Ada' } },
      { externalId: '2', email: 'b@b.example', role: 'learner', status: 'suspended' },
      { email: 'c@b.example', role: 'instructor', profile: { bio: 'Teaches' } },
    ],
  ],
  [
    'enrollments',
    [
      { courseId: 'ext:C', userId: 'ext:1', enrolledAt: early },
      { courseId: 'ext:C', userId: 'email:c@b.example', role: 'instructor' },
    ],
  ],
  ['progress', [{ courseId: 'ext:C', learnerId: 'ext:1', completionPercentage: 100, lastAccessed: early }]],
  [
    'grades',
    [
      {
        courseId: 'ext:C',
        learnerId: 'ext:1',
        itemId: 'i',
        scoreGiven: 12,
        scoreMaximum: 20,
        gradedAt: early,
      },
      {
        courseId: 'ext:C',
        learnerId: 'ext:1',
        itemId: 'j',
        scoreGiven: 22,
        scoreMaximum: 20,
        gradedAt: early,
        extraCredit: true,
      },
    ],
  ],
]

/** Other values of fields, some of which differ only in form. */
const others: Readonly<Record<string, readonly unknown[]>> = {
  title: ['Other', ' Ebb ', 'Sea'],
  description: ['', null, 'High'],
  status: ['active', 'published', 'archived', 'inactive', 'suspended'],
  role: ['student', 'learner'],
  tags: [[], ['a'], ['A', 'b']],
  profile: [{ firstName: 'Ada' }, { bio: null }, { firstName: 'Grace', lastName: 'Hopper' }],
  email: ['A@b.example', 'z@b.example'],
  contentBlocks: [[], [{ type: 'markdown', title: 'One', body: 'Text' }]],
  assessments: [[], [{ type: 'quiz', title: 'Test', questions: [] }]],
  enrolledAt: ['2026-01-05', '2026-01-06T09:00:00+01:00'],
  completionPercentage: [100, 50],
  lastAccessed: ['2026-01-05T09:00:00+01:00', '2026-01-04', '2026-01-07'],
  scoreGiven: [12, 13],
  gradedAt: ['2026-01-04', early, '2026-01-07'],
  weight: [null, 0, 10],
  externalId: ['C', 'L', '1'],
}

/** Fields that a record loses, and fields that get another value. */
const edit = fc.array(
  fc.record({ field: fc.constantFrom(...Object.keys(others)), drop: fc.boolean(), choice: fc.nat(2) }),
  { maxLength: 3 },
)

function edited(record: Fields, edits: readonly { field: string; drop: boolean; choice: number }[]): Fields {
  const copy = { ...record }
  for (const { field, drop, choice } of edits) {
    if (copy[field] === undefined) continue
    // Required fields of every row.
    if (
      drop &&
      !['title', 'email', 'completionPercentage', 'scoreGiven', 'lastAccessed', 'gradedAt'].includes(field)
    )
      delete copy[field]
    else copy[field] = others[field]?.[choice % (others[field]?.length ?? 1)]
  }
  return copy
}

async function importFiles(local: TestCli, database: string): Promise<void> {
  for (const [noun, records] of files) {
    const ran = await local.run(`${noun} import - ${database}`, { stdin: JSON.stringify(records) })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
  }
}

describe('a dry run of an import', () => {
  test('says `unchanged` of any record exactly where the import does', { tags: ['slow'] }, async ({
    local,
  }) => {
    let number = 0
    const nouns = fc.constantFrom(...files.map(([noun]) => noun))
    await fc.assert(
      fc.asyncProperty(nouns, fc.array(edit, { minLength: 3, maxLength: 3 }), async (noun, edits) => {
        number += 1
        const database = `--database any-${number}.db`
        await importFiles(local, database)
        // Progress is listed by learner.
        const shown: readonly Fields[] =
          noun === 'progress'
            ? (files.find(([name]) => name === noun)?.[1] ?? [])
            : await resultOf(local, `${noun} list --all ${database}`)
        for (const [index, each] of edits.entries()) {
          const record = shown[index % shown.length]
          const stdin = JSON.stringify([edited(record ?? {}, each)])
          const dry = await local.run(`${noun} import - --dry-run -o json ${database}`, { stdin })
          // Rows that the check refuses are refused in both.
          if (dry.code === 2) continue
          const [{ action }] = JSON.parse(dry.stdout)
          const done = await local.run(`${noun} import - -o json ${database} --errors errors.csv`, { stdin })
          const { unchanged, failed } = JSON.parse(done.stdout)
          const said = `${noun} ${stdin}\n${dry.stdout}${done.stderr}`
          expect(action === 'unchanged', said).toBe(unchanged === 1)
          // A dry run cannot know everything that the platform refuses.
          if (action === 'fail') expect(failed, said).toBe(1)
        }
      }),
      { numRuns: randomRuns(1, 15), endOnFailure: true },
    )
  })
})
