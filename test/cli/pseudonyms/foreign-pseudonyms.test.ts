import { expect } from 'vitest'
import { createPseudonymKey } from '../../../src/cli/pseudonyms/pseudonyms.ts'
import { freshDirectory } from '../../helpers/academy.ts'
import { describedPlatform, json } from '../../helpers/foreign-platforms/platforms.ts'
import { test } from '../../helpers/foreign-platforms/run.ts'

test('columns that only another platform has are left out', async ({ run, onTestFinished }) => {
  const directory = freshDirectory()
  onTestFinished(directory.remove)
  const key = `${directory.path}/study.key`
  await createPseudonymKey(directory.path, key)
  const platform = describedPlatform('natural')
  const row = {
    learnerId: 15,
    email: 'zoe@school.example',
    courseId: 'c-1',
    courseTitle: 'Sea',
    completionPercentage: 40,
    lastAccessed: null,
    homeroomTeacher: 'Ms Miller',
    guardian: { phone: '+43 1 4711' },
  }
  platform.options.answer = ({ path }) =>
    path === '/v1/analytics/learners' ? json(200, { data: [row], nextCursor: null }) : undefined
  const { code, stdout, stderr } = await run(
    platform,
    `analytics export -o csv --pseudonymise --pseudonym-key ${key} --columns learnerId,courseTitle,completionPercentage,lastAccessed`,
  )
  expect([code, stderr]).toEqual([0, expect.stringContaining('homeroomTeacher')])
  expect(stdout).toMatch(
    /^learnerId,courseTitle,completionPercentage,lastAccessed\r\n[a-z2-7]{20},Sea,40,\r\n$/,
  )
  expect(`${stdout}${stderr}`).not.toMatch(/zoe|miller|4711/i)
})
