import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { personalSections } from '../../../src/contract/constants.ts'
import { test as withCli } from '../../helpers/cli.ts'
import { expectClearError } from '../../helpers/result.ts'

/** The program, signed in to an academy with a learner who has taken 150 steps. */
const test = withCli.extend('school', async ({ remote, admin }) => {
  await admin.post('/v1/courses', { title: 'Sea', externalId: 'sea', status: 'published' })
  await admin.post('/v1/users', {
    email: 'zoe@school.example',
    externalId: 'S-1',
    profile: { bio: 'Sails "alone"' },
  })
  const items = Array.from({ length: 150 }, (_, index) => ({
    learnerId: 'ext:S-1',
    courseId: 'ext:sea',
    completionPercentage: index / 2,
    lastAccessed: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
  }))
  await admin.post('/v1/progress/batch', { items })
  await remote.run('auth login --with-key --url https://school.example', { stdin: admin.key })
  return remote
})

test('all about a person is one JSON document, with every section', async ({ school }) => {
  const { stdout, stderr, code } = await school.run('users export-data email:zoe@school.example')
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^Exported \d+ rows$/m)])
  const data = JSON.parse(stdout)
  expect(Object.keys(data)).toEqual(['exportedAt', ...Object.keys(personalSections)])
  expect(data).toMatchObject({
    user: { email: 'zoe@school.example', profile: { bio: 'Sails "alone"' }, hasPassword: false },
    enrollments: [{ courseTitle: 'Sea', role: 'learner' }],
    webhookMessages: { pending: 0, finished: 0 },
    accountEntries: [{ action: 'user.created', subjectName: 'zoe@school.example' }],
    apiKeys: [],
  })
  expect(data.progressHistory).toHaveLength(150)
  expect(data.progressHistory.at(-1)).toMatchObject({ percentage: 74.5 })
})

test('a file is for its owner alone, and compressed by its name', { tags: ['slow'] }, async ({ school }) => {
  expect((await school.run('users export-data ext:S-1 --file zoe.json.gz')).code).toBe(0)
  const file = join(school.cwd, 'zoe.json.gz')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(JSON.parse(gunzipSync(readFileSync(file)).toString()).user.externalId).toBe('S-1')
  expectClearError(await school.run('users export-data ext:S-1 --file zoe.json.gz'), 2, 'zoe.json.gz')
})

test('other formats, and missing people, are refused', { tags: ['slow'] }, async ({ school }) => {
  expectClearError(await school.run('users export-data ext:S-1 -o csv'), 2, 'one JSON document')
  expectClearError(await school.run('users export-data ext:S-1 --file zoe.csv'), 2, 'one JSON document')
  expectClearError(await school.run('users export-data ext:S-1 --force'), 2, '--file')
  const missing = await school.run('users export-data ext:S-2')
  expect([missing.code, missing.stdout]).toEqual([3, ''])
})

test('instructors cannot read it; a dry run sends none', { tags: ['slow'] }, async ({ school, academy }) => {
  const teacher = await academy.person('instructor')
  const refused = await school.run('users export-data ext:S-1', { env: { LEARNCTL_API_KEY: teacher.key } })
  expect([refused.code, refused.stdout]).toEqual([5, ''])
  const { stdout } = await school.run('users export-data ext:S-1 --dry-run')
  expect(stdout).toContain('GET https://school.example/v1/users/ext%3AS-1/data?limit=100')
})
