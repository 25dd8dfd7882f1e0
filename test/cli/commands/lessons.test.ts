import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeEach, describe, expect } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { type TestCli, test } from '../../helpers/cli.ts'
import { resultOf, rowsOf } from '../../helpers/result.ts'

const tides = ['lessons', 'create', '--course', 'ext:sea', '--external-id', 'tides', '--title', 'The tides']

beforeEach<{ local: TestCli }>(async ({ local }) => {
  await local.run([
    'courses',
    'create',
    '--title',
    'Sea',
    '--external-id',
    'sea',
    '--modules',
    '[{"title":"One"}]',
  ])
})

describe('create', () => {
  test('takes a flag for every attribute, long ones from a file', async ({ local }) => {
    const course = await resultOf(local, 'courses get ext:sea')
    writeFileSync(join(local.cwd, 'quiz.yaml'), '- type: quiz\n  title: How deep?\n')
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
      ...['--learning-objectives', 'Swim, dive', '--learning-objectives', 'Wait', '--status', 'published'],
      ...['--content-blocks', '[{"type":"markdown","body":"# Moon"}]', '--assessments', '@quiz.yaml'],
      ...['--managed-by', 'terraform', '--order', '1'],
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
      learningObjectives: ['Swim, dive', 'Wait'],
      contentBlocks: [{ type: 'markdown', body: '# Moon' }],
      assessments: [{ type: 'quiz', title: 'How deep?' }],
      managedBy: 'terraform',
      version: 1,
      createdAt: '2026-03-01T12:00:00.000Z',
    })
  })

  test('takes a whole lesson from a file, and flags override it', async ({ local }) => {
    writeFileSync(join(local.cwd, 'corals.yaml'), 'title: Corals\norder: 1\ncourseId: ext:sea\n')
    expect(await resultOf(local, 'lessons create --body @corals.yaml --title Reefs')).toMatchObject({
      title: 'Reefs',
      order: 1,
    })
  })

  test('asks for course and title on a terminal, in this order', { tags: ['slow'] }, async ({ local }) => {
    const typed = ['ext:sea\r', 'Waves\r']
    const { code, stdout, stderr } = await local.run('lessons create -o json', { tty: 80, typed })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Waves', order: 1 })
    expect(stderr.indexOf('Course:')).toBeLessThan(stderr.indexOf('Title:'))
  })

  test('names both when there is no terminal to ask', async ({ local }) => {
    expect(await local.run('lessons create')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('error: --course, --title are required\n'),
    })
  })

  test('prints the id alone with -q', { tags: ['slow'] }, async ({ local }) => {
    expect((await local.run([...tides, '-q'])).stdout).toMatch(/^les_\w+\n$/)
  })

  test('with --dry-run prints the request and sends nothing', { tags: ['slow'] }, async ({ local }) => {
    const { stdout } = await local.run([...tides, '--dry-run'])
    expect(stdout).toMatch(/^POST http:\/\/localhost\/v1\/lessons\n/)
    expect(stdout).toContain('"courseId": "ext:sea"')
    expect(await resultOf(local, 'lessons list')).toEqual([])
  })
})

describe('list', () => {
  beforeEach<{ local: TestCli }>(async ({ local }) => {
    await local.run(tides)
    await local.run('lessons create --course ext:sea --title Corals --status draft --external-id corals')
    await local.run('courses create --title Land --external-id land')
    await local.run('lessons create --course ext:land --title Hills')
  })

  test('is of one course with --course, in the order of its lessons', { tags: ['slow'] }, async ({
    local,
  }) => {
    expect(await rowsOf(local, 'lessons list --course ext:sea --columns order,title')).toEqual([
      ['1', 'The tides'],
      ['2', 'Corals'],
    ])
  })

  test('is filtered and ordered by flags', async ({ local }) => {
    const titles = async (flags: string) =>
      (await rowsOf(local, `lessons list --columns title ${flags}`)).flat()
    expect(await titles('--sort title')).toEqual(['Corals', 'Hills', 'The tides'])
    expect(await titles('--sort -title')).toEqual(['The tides', 'Hills', 'Corals'])
    expect(await titles('--status draft')).toEqual(['Corals'])
    expect(await titles('--external-id tides')).toEqual(['The tides'])
  })

  test('tells when it is cut, and does not when it is whole', { tags: ['slow'] }, async ({ local }) => {
    const cut = await local.run('lessons list --limit 2 -q')
    expect(cut.stdout.split('\n')).toHaveLength(3)
    expect(cut.stderr).toBe('note: Showing the first 2; use --all for the rest\n')
    expect((await local.run('lessons list --limit 3')).stderr).toBe('')
  })

  test('has one shape in every format', { tags: ['slow'] }, async ({ local }) => {
    const inFormat = async (format: string) =>
      (await local.run(`lessons list --course ext:sea -o ${format}`)).stdout
    const lessons = JSON.parse(await inFormat('json'))
    expect(lessons).toMatchObject([{ title: 'The tides' }, { title: 'Corals' }])
    expect(
      (await inFormat('jsonl'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(lessons)
    expect(parseYaml(await inFormat('yaml'))).toEqual(lessons)
    expect(parse(await inFormat('csv'), { columns: true })).toMatchObject([
      { id: lessons[0].id, title: 'The tides', durationMinutes: '', contentBlocks: '[]' },
      { id: lessons[1].id, title: 'Corals', status: 'draft' },
    ])
    expect(await inFormat('table')).toBe(
      lessons
        .map((lesson: Record<string, unknown>) =>
          ['title', 'courseTitle', 'status', 'version', 'updatedAt', 'id'].map((name) => lesson[name]),
        )
        .map((cells: string[]) => `${cells.join('\t')}\n`)
        .join(''),
    )
  })
})

describe('get', () => {
  test('finds a lesson by its id and by ours', { tags: ['slow'] }, async ({ local }) => {
    const id = (await local.run([...tides, '-q'])).stdout.trim()
    expect(await resultOf(local, `lessons get ${id}`)).toEqual(await resultOf(local, 'lessons get ext:tides'))
  })

  test('of an unknown one exits 3', { tags: ['slow'] }, async ({ local }) => {
    expect(await local.run('lessons get ext:none')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/^error: Lesson ext:none not found\n {2}request id: req_\w+\n$/),
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

  test('to a place that is taken moves the others', async ({ local }) => {
    await local.run(tides)
    await local.run('lessons create --course ext:sea --title Corals --external-id corals')
    await local.run('lessons update ext:corals --order 1')
    expect(await rowsOf(local, 'lessons list --course ext:sea --columns order,title')).toEqual([
      ['1', 'Corals'],
      ['2', 'The tides'],
    ])
  })

  test('to what it is already keeps its version', { tags: ['slow'] }, async ({ local }) => {
    await local.run(tides)
    expect(await resultOf(local, ['lessons', 'update', 'ext:tides', '--title', 'The tides'])).toMatchObject({
      version: 1,
    })
  })

  test('is held back by --if-version of a version that is past, and changes nothing', {
    tags: ['slow'],
  }, async ({ local }) => {
    await local.run(tides)
    await local.run('lessons update ext:tides --title Ebb --if-version 1')
    const late = await local.run('lessons update ext:tides --title Flood --if-version 1')
    expect(late).toMatchObject({ code: 6, stdout: '' })
    expect(late.stderr).toMatch(/^error: .*version is 2/)
    expect(await resultOf(local, 'lessons get ext:tides')).toMatchObject({ title: 'Ebb', version: 2 })
  })
})

describe('delete', () => {
  test('needs a yes, says what it did, and leaves nothing behind', { tags: ['slow'] }, async ({ local }) => {
    await local.run(tides)
    expect(await local.run('lessons delete ext:tides')).toMatchObject({ code: 2, stdout: '' })
    const { code, stdout, stderr } = await local.run('lessons delete ext:tides --yes')
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(
      /^Deleted lesson .* \(tides\); restore until \d{4}-\d\d-\d\d with: learnctl lessons restore ext:tides\n$/,
    )
    expect(await local.run('lessons get ext:tides')).toMatchObject({ code: 3 })
  })

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

  test('is silent with -q', async ({ local }) => {
    await local.run(tides)
    expect(await local.run('lessons delete ext:tides --yes -q')).toEqual({ code: 0, stdout: '', stderr: '' })
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
