import { expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { resultOf } from '../../helpers/result.ts'

test('a lesson has flags and content, versions, and a place in the trash', async ({ local }) => {
  await local.run('courses create --title Sea --external-id sea')
  await local.run('modules create --course ext:sea --title One')
  const course = await resultOf(local, 'courses get ext:sea')
  const content = {
    contentBlocks: [{ type: 'markdown', body: '# Moon' }],
    assessments: [{ type: 'quiz', title: 'How deep?' }],
  }
  const flags = '--external-id tides --title "The tides" --description "Twice a day" --duration-minutes 45'
  const line = `lessons create --course ext:sea ${flags} --status published --managed-by terraform --module ${course.modules[0].id} --body -`
  const stdin = JSON.stringify({ order: 1, ...content })
  expect(await resultOf(local, line, { stdin })).toMatchObject({
    ...{ externalId: 'tides', courseId: course.id, moduleId: course.modules[0].id, title: 'The tides' },
    ...{ description: 'Twice a day', order: 1, durationMinutes: 45, status: 'published', version: 1 },
    ...{ ...content, managedBy: 'terraform', createdAt: '2026-03-01T12:00:00.000Z' },
  })

  const said = async (line: string) => (await local.run(line)).stderr
  expect(await resultOf(local, 'lessons update ext:tides --title Ebb --unset description')).toMatchObject({
    ...{ title: 'Ebb', description: '', durationMinutes: 45, version: 2 },
  })
  expect(await resultOf(local, 'lessons versions ext:tides')).toMatchObject([
    { version: 2, modifiedAttributes: expect.arrayContaining(['title', 'description']) },
    { version: 1, modifiedAttributes: [] },
  ])
  const diff = await local.run('lessons diff ext:tides 1')
  expect(diff).toMatchObject({ code: 9, stdout: expect.stringMatching(/title.*Ebb/) })
  expect(await said('lessons restore ext:tides 1 --yes')).toMatch(
    /^Restored version 1 of lesson .+, version 3\n$/,
  )
  expect((await local.run('lessons diff ext:tides 1')).code).toBe(0)

  const before = await resultOf(local, 'lessons get ext:tides')
  await local.run('lessons delete ext:tides --yes')
  expect(await resultOf(local, 'lessons list --deleted')).toMatchObject([{ externalId: 'tides' }])
  expect(await said('lessons restore ext:tides')).toMatch(/^Restored lesson .* \(tides\)\n$/)
  expect(await resultOf(local, 'lessons get ext:tides')).toEqual(before)
  expect(await said('lessons delete ext:tides --erase --yes')).toBe(
    'Permanently deleted lesson The tides (tides)\n',
  )
  expect(await resultOf(local, 'lessons list --deleted')).toEqual([])
})
