import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { resultOf } from '../../helpers/result.ts'

const tides = ['lessons', 'create', '--course', 'ext:sea', '--external-id', 'tides', '--title', 'The tides']

beforeEach<{ local: TestCli }>(async ({ local }) => {
  await local.run('courses create --title Sea --external-id sea')
  await local.run('modules create --course ext:sea --title One')
})

describe('create', () => {
  test('takes flags, and content from a file', async ({ local }) => {
    const course = await resultOf(local, 'courses get ext:sea')
    const content = `order: 1
contentBlocks: [{ type: markdown, body: '# Moon' }]
assessments: [{ type: quiz, title: How deep? }]`
    writeFileSync(join(local.cwd, 'tides.yaml'), content)
    const lesson = await resultOf(local, [
      ...[
        ...tides,
        '--description',
        'Twice a day',
        '--module',
        course.modules[0].id,
        '--duration-minutes',
        '45',
      ],
      ...['--status', 'published'],
      ...['--managed-by', 'terraform', '--body', '@tides.yaml'],
    ])
    expect(lesson).toMatchObject({
      externalId: 'tides',
      courseId: course.id,
      moduleId: course.modules[0].id,
      title: 'The tides',
      description: 'Twice a day',
      order: 1,
      durationMinutes: 45,
      status: 'published',
      contentBlocks: [{ type: 'markdown', body: '# Moon' }],
      assessments: [{ type: 'quiz', title: 'How deep?' }],
      managedBy: 'terraform',
      version: 1,
      createdAt: '2026-03-01T12:00:00.000Z',
    })
  })
})

describe('update', () => {
  test('changes what is given, and leaves the rest', async ({ local }) => {
    await local.run([...tides, '--duration-minutes', '45', '--description', 'Twice a day'])
    expect(
      await resultOf(local, ['lessons', 'update', 'ext:tides', '--title', 'Tides', '--unset', 'description']),
    ).toMatchObject({ title: 'Tides', description: '', durationMinutes: 45, version: 2 })
  })
})

describe('delete', () => {
  test('is undone by restore-deleted, unless it was for good', { tags: ['slow'] }, async ({ local }) => {
    await local.run(tides)
    const before = await resultOf(local, 'lessons get ext:tides')
    await local.run('lessons delete ext:tides --yes')
    expect(await resultOf(local, 'lessons list --deleted')).toMatchObject([{ externalId: 'tides' }])
    expect((await local.run('lessons restore ext:tides')).stderr).toMatch(/^Restored lesson .* \(tides\)\n$/)
    expect(await resultOf(local, 'lessons get ext:tides')).toEqual(before)
    expect((await local.run('lessons delete ext:tides --erase --yes')).stderr).toBe(
      'Permanently deleted lesson The tides (tides)\n',
    )
    expect(await resultOf(local, 'lessons list --deleted')).toEqual([])
  })
})

describe('versions', () => {
  test('are listed, compared and restored as those of courses', async ({ local }) => {
    await local.run(tides)
    await local.run('lessons update ext:tides --title Ebb')
    expect(await resultOf(local, 'lessons versions ext:tides')).toMatchObject([
      { version: 2, modifiedAttributes: ['title'] },
      { version: 1, modifiedAttributes: [] },
    ])
    const diff = await local.run('lessons diff ext:tides 1')
    expect(diff.code).toBe(9)
    expect(diff.stdout).toMatch(/title.*Ebb/)
    expect((await local.run('lessons restore ext:tides 1 --yes')).stderr).toMatch(
      /^Restored version 1 of lesson .* \(tides\), version 3\n$/,
    )
    expect((await local.run('lessons diff ext:tides 1')).code).toBe(0)
  })
})
