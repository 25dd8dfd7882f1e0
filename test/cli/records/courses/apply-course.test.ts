import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished } from 'vitest'
import { type RunOptions, type TestCli, test, testCli, transportTo } from '../../../helpers/cli.ts'
import { randomRuns } from '../../../helpers/random.ts'
import { anyCourse } from './any-course.ts'

const marine = {
  externalId: 'BIO-101',
  title: 'Marine Biology',
  status: 'published',
  modules: [
    {
      title: 'Sea',
      lessons: [{ title: 'Waves', externalId: 'waves', durationMinutes: 30 }, { title: 'Tides' }],
    },
    { title: 'Life', lessons: [{ title: 'Fish', contentBlocks: [{ type: 'text', body: 'Fish\nswim' }] }] },
  ],
  lessons: [{ title: 'Farewell' }],
}

function apply(cli: TestCli, course: unknown, more = '', options: RunOptions = {}) {
  writeFileSync(join(cli.cwd, 'course.json'), JSON.stringify(course))
  return cli.run(`courses apply -f course.json ${more}`, options)
}

async function shown(cli: TestCli): Promise<unknown> {
  const ran = await cli.run('courses get ext:BIO-101 --with-lessons -o json')
  expect(ran.code, ran.stderr).toBe(0)
  return JSON.parse(ran.stdout)
}

/** Returns id, version and position of each lesson by title. */
async function lessons(
  cli: TestCli,
): Promise<Record<string, { id: string; version: number; order: number }>> {
  const { stdout } = await cli.run('lessons list --all -o json')
  return Object.fromEntries(
    (JSON.parse(stdout) as { title: string }[]).map((each) => [each.title, each]),
  ) as never
}

describe('courses apply', () => {
  test('creates a course with its lessons, and a second time changes nothing', { tags: ['slow'] }, async ({
    local,
  }) => {
    const ran = await apply(local, marine)
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toContain('Created course Marine Biology (BIO-101): 4 lessons created\n')
    expect(await shown(local)).toEqual(marine)
    const before = await local.run('lessons list --all -o json')
    const again = await apply(local, marine)
    expect(again).toEqual({ code: 0, stdout: '', stderr: 'No changes to course Marine Biology (BIO-101)\n' })
    expect(await local.run('lessons list --all -o json')).toEqual(before)
    expect((await local.run('courses get ext:BIO-101 --columns version')).stdout).toBe('1\n')
  })

  test('changes only what was edited', { tags: ['slow'] }, async ({ local }) => {
    await apply(local, marine)
    const before = await lessons(local)
    const [sea, life] = marine.modules
    const edited = {
      ...marine,
      modules: [{ ...sea, lessons: [{ ...sea?.lessons[0], durationMinutes: 45 }, sea?.lessons[1]] }, life],
    }
    const ran = await apply(local, edited)
    expect(ran.stderr).toBe(
      '~ course Marine Biology (BIO-101)\n  ~ lesson Waves (waves)\n      durationMinutes: 30 → 45\nUpdated course Marine Biology (BIO-101): 1 lesson updated\n',
    )
    const after = await lessons(local)
    expect(after).toEqual({
      ...before,
      Waves: { ...before['Waves'], durationMinutes: 45, version: 2, updatedAt: expect.any(String) },
    })
    expect((await local.run('courses get ext:BIO-101 --columns version')).stdout).toBe('1\n')
  })

  test('renames a module and a lesson in place', { tags: ['slow'] }, async ({ local }) => {
    await apply(local, marine)
    const before = await lessons(local)
    const [sea, life] = marine.modules
    const fish = { ...life?.lessons[0], title: 'Fishes' }
    const renamed = {
      ...marine,
      modules: [
        { ...sea, title: 'Ocean' },
        { ...life, lessons: [fish] },
      ],
    }
    const ran = await apply(local, renamed)
    expect(ran.stderr).toContain(': 1 lesson updated\n')
    const after = await lessons(local)
    expect(after['Fishes']).toMatchObject({ id: before['Fish']?.id })
    expect(after['Waves']).toEqual(before['Waves'])
    expect(await shown(local)).toEqual(renamed)
  })

  test('gives lessons the order of the file, and moves as few as it can', { tags: ['slow'] }, async ({
    local,
  }) => {
    await apply(local, marine)
    const [sea, life] = marine.modules
    const moved = {
      ...marine,
      modules: [
        { ...sea, lessons: [sea?.lessons[0]] },
        { ...life, lessons: [sea?.lessons[1], life?.lessons[0]] },
      ],
      lessons: [{ title: 'Farewell' }, { title: 'Thanks' }],
    }
    expect((await apply(local, moved)).stderr).toContain(': 1 lesson created, 1 updated\n')
    const last = { ...moved, modules: [life, { title: 'Sea', lessons: sea?.lessons }] }
    expect((await apply(local, last)).code).toBe(0)
    expect(await shown(local)).toEqual(last)
    expect((await apply(local, last)).stderr).toContain('No changes')
  })

  test('keeps what the file lacks, unless it is told to prune, and asks before that', {
    tags: ['slow'],
  }, async ({ local }) => {
    await apply(local, marine)
    const less = { ...marine, lessons: [] }
    const kept = await apply(local, less)
    expect(kept.code).toBe(0)
    expect(kept.stderr).toContain(
      'note: 1 lesson of course Marine Biology (BIO-101) is not in the file and will be kept: Farewell; --prune deletes it\n',
    )
    const refused = await apply(local, less, '--prune')
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('Refusing to delete 1 lesson without confirmation')
    expect(await shown(local)).toEqual(marine)
    const declined = await apply(local, less, '--prune', { tty: 100, typed: ['n\n'] })
    expect(declined.stderr).toContain('Delete 1 lesson (Farewell) in ')
    expect(await shown(local)).toEqual(marine)
    const pruned = await apply(local, less, '--prune --yes')
    expect(pruned.stderr).toContain(': 1 lesson deleted\n')
    const { lessons: _, ...rest } = marine
    expect(await shown(local)).toEqual(rest)
  })

  test('brings a deleted course back with its lessons, and says so before', { tags: ['slow'] }, async ({
    local,
  }) => {
    await apply(local, marine)
    const before = await lessons(local)
    await local.run('courses delete ext:BIO-101 --force --yes')
    const text = 'from the trash: course Marine Biology (BIO-101)\n'
    const dry = await apply(local, marine, '--dry-run')
    expect(dry).toMatchObject({ code: 0, stderr: `note: Restores ${text}` })
    const ran = await apply(local, marine)
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining(`note: Restored ${text}`) })
    expect(await shown(local)).toEqual(marine)
    const idsOf = (all: object) => Object.values(all).map(({ id }) => id)
    expect(idsOf(await lessons(local))).toEqual(idsOf(before))
    expect((await apply(local, marine)).stderr).toBe('No changes to course Marine Biology (BIO-101)\n')
    await local.run('courses delete ext:BIO-101 --force --yes')
    await local.run('courses delete ext:BIO-101 --erase --yes')
    expect((await apply(local, marine)).stderr).toContain('Created course Marine Biology (BIO-101)')
  })

  test('gives a lesson that comes back its place, and nothing but what the file says', {
    tags: ['slow'],
  }, async ({ local }) => {
    const course = (lessons: readonly object[]) => ({
      ...{ externalId: 'BIO-101', title: 'Sea', status: 'draft' },
      lessons,
    })
    const kept = { externalId: 'kept', title: 'Ebb', status: 'draft' }
    await apply(
      local,
      course([{ ...kept, description: 'Old', contentBlocks: [{ type: 'text', body: 'Old' }] }]),
    )
    await apply(local, course([]), '--prune --yes')
    const now = course([{ title: 'Flow', status: 'draft' }, kept])
    expect((await apply(local, now)).code).toBe(0)
    expect(await shown(local)).toEqual(now)
  })

  test('shows under --dry-run what it would do, and sends nothing', { tags: ['slow'] }, async ({ local }) => {
    const dry = await apply(local, marine, '--dry-run')
    expect(dry.stdout).toBe(
      '+ course Marine Biology (BIO-101)\n  + lesson Waves (waves)\n  + lesson Tides\n  + lesson Fish\n  + lesson Farewell\n',
    )
    expect((await local.run('courses list -o json')).stdout).toBe('[]\n')
    await apply(local, marine)
    const changed = { ...marine, title: 'Sea', status: undefined, lessons: [] }
    const data = await apply(local, changed, '--dry-run --prune -o json')
    expect(JSON.parse(data.stdout)).toEqual([
      {
        action: 'update',
        externalId: 'BIO-101',
        title: 'Sea',
        changes: [{ field: 'title', from: 'Marine Biology', to: 'Sea' }],
        lessons: [{ action: 'delete', externalId: null, title: 'Farewell', changes: [] }],
      },
    ])
    expect(await shown(local)).toEqual(marine)
  })

  test('tells every problem of a file with its line, and takes each course once', async ({ local }) => {
    writeFileSync(join(local.cwd, 'a.yaml'), 'externalId: a\ntitle: A\nlessons:\n  - titel: B\n')
    const wrong = await local.run('courses apply -f a.yaml')
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('2 problems found in a.yaml; nothing was sent\n')
    expect(wrong.stderr).toContain('  a.yaml:4: lessons[0].title is required\n')
    expect(wrong.stderr).toContain('  a.yaml:4: lessons[0].titel is not a known field; did you mean title?\n')
    const twice = await apply(local, marine, '-f course.json')
    expect(twice.stderr).toContain(
      '  course.json: course ext:BIO-101 is declared twice; first in course.json\n',
    )
    expect(await local.run('courses apply')).toMatchObject({ code: 2 })
  })

  test('changes nothing where the course was changed since it was compared', { tags: ['slow'] }, async ({
    academy,
    admin,
  }) => {
    let isFirst = true
    const platform = transportTo(academy)
    const cli = testCli({
      transport: async (request) => {
        if (request.url.endsWith('/carry-out') && isFirst) {
          isFirst = false
          await admin.put('/v1/courses/ext:BIO-101', { title: 'Changed meanwhile' })
        }
        return platform(request)
      },
      env: { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key },
    })
    onTestFinished(() => cli.remove())
    isFirst = false
    await apply(cli, { ...marine, status: 'draft' })
    isFirst = true
    const ran = await apply(cli, { ...marine, status: 'draft', description: 'Wet' })
    expect(ran.code, ran.stderr).toBe(6)
    expect(ran.stderr).toContain('error: The academy has changed since the plan was made: course crs_')
    expect(await shown(cli)).toMatchObject({ title: 'Changed meanwhile' })
    expect((await apply(cli, { ...marine, description: 'Wet' })).code).toBe(0)
  })

  test.for(['', '--dry-run'])(
    'sends nothing where lessons have the external ids of those of another course, as in the file of the next term %s',
    async (flag, { local }) => {
      await apply(local, marine)
      const next = { ...marine, externalId: 'BIO-102', title: 'Marine Biology II' }
      const { code, stdout, stderr } = await apply(local, next, flag)
      expect({ code, stdout }).toEqual({ code: 6, stdout: '' })
      expect(stderr).toMatch(
        /^error: \d+ lessons? of course Marine Biology II \(BIO-102\) ha(ve external ids of lessons|s the external id of a lesson) of another course; nothing was sent\n {2}waves: lesson Waves of course Marine Biology \(BIO-101\)\n/,
      )
      expect(stderr).toContain(
        "  hint: To make a new course of that one: learnctl courses copy ext:BIO-101 --title 'Marine Biology II' --external-id BIO-102; or give these lessons external ids of their own\n",
      )
      expect((await local.run('courses list --columns externalId')).stdout).toBe('BIO-101\n')
    },
  )

  test('sends nothing where a deleted lesson of another course has the external id', async ({ local }) => {
    await local.run('courses create --title Other --external-id other')
    await local.run('lessons create --course ext:other --title Taken --external-id waves')
    await local.run('lessons delete ext:waves --yes')
    const { code, stderr } = await apply(local, marine)
    expect(code).toBe(6)
    expect(stderr).toContain('  course.json: lesson ext:waves: externalId already exists: les_')
    expect((await local.run('courses list --columns externalId')).stdout).toBe('other\n')
  })

  test('of any document gives that document, and nothing to do the second time', { tags: ['slow'] }, async ({
    local,
  }) => {
    let number = 0
    await fc.assert(
      fc.asyncProperty(anyCourse, async (course) => {
        number += 1
        const document = { ...course, externalId: `any-${number}` }
        const text = JSON.stringify(document).replaceAll('"les-', `"les-${number}-`)
        const ran = await local.run('courses apply -f -', { stdin: text })
        expect(ran.code, ran.stderr).toBe(0)
        const { stdout } = await local.run(`courses get ext:any-${number} --with-lessons -o yaml`)
        const again = await local.run('courses apply -f -', { stdin: stdout })
        expect(again.stderr).toMatch(/^No changes to course .*\n$/)
        const json = await local.run(`courses get ext:any-${number} --with-lessons -o json`)
        expect(JSON.parse(json.stdout)).toEqual(JSON.parse(text))
      }),
      { numRuns: randomRuns(1, 12) },
    )
  })

  test('makes any document any other one, whatever was deleted between', { tags: ['slow'] }, async ({
    local,
  }) => {
    let number = 0
    // A lesson that is matched by title keeps its external id.
    const nameless = (text: string): unknown =>
      JSON.parse(text, (key, value: unknown) => (key === 'externalId' ? undefined : value))
    await fc.assert(
      fc.asyncProperty(fc.array(anyCourse, { minLength: 2, maxLength: 3 }), async (versions) => {
        number += 1
        for (const course of versions) {
          const document = { ...course, externalId: `other-${number}`, status: 'draft' }
          const stdin = JSON.stringify(document).replaceAll('"les-', `"other-${number}-`)
          const ran = await local.run('courses apply -f - --prune --yes', { stdin })
          expect(ran.code, ran.stderr).toBe(0)
          const { stdout } = await local.run(`courses get ext:other-${number} --with-lessons -o json`)
          expect(nameless(stdout)).toEqual(nameless(stdin))
          const again = await local.run('courses apply -f - --prune', { stdin })
          expect(again.stderr).toMatch(/^No changes to course .*\n$/)
        }
      }),
      { numRuns: randomRuns(1, 12) },
    )
  })
})

test('the file of an academy is told from that of a course', async ({ local }) => {
  const { code, stderr } = await local.run('courses validate -f -', { stdin: 'learnctl: 1\nusers: []' })
  expect(code).toBe(2)
  expect(stderr).toContain(
    'is the file of an academy, not of one course\n  hint: Use "learnctl diff" or "learnctl apply"',
  )
})

describe('courses diff --file', () => {
  test('shows changed texts by line, and lessons by title, within 80 columns', async ({ local }) => {
    const body = ['# Corals', '', 'They are animals.', 'They build reefs.'].join('\n')
    const long = `What lives in the sea, ${'and in the depths of it, '.repeat(8)}`.trim()
    const before = {
      externalId: 'SEA',
      title: 'Sea',
      description: long,
      lessons: [{ title: 'Corals', contentBlocks: [{ type: 'markdown', body }] }, { title: 'Fish' }],
    }
    await local.run('courses apply -f -', { stdin: JSON.stringify(before) })
    const [corals] = before.lessons
    const after = {
      ...before,
      description: `${long} Boots!`,
      lessons: [
        { ...corals, contentBlocks: [{ type: 'markdown', body: body.replace('animals', 'tiny animals') }] },
        { title: 'Sharks' },
      ],
    }
    const ran = await local.run('courses diff -f - --prune', { stdin: JSON.stringify(after) })
    expect(ran.code).toBe(9)
    expect(ran.stdout).toContain(`
  ~ lesson Corals
      contentBlocks.1.body:
          …

        - They are animals.
        + They are tiny animals.
          They build reefs.
  + lesson Sharks
  - lesson Fish
`)
    expect(ran.stdout).toMatch(/^ {6}- What lives in the sea, /m)
    expect(ran.stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  test('prints what apply would do, exits with 9 if the course differs, and changes nothing', {
    tags: ['slow'],
  }, async ({ local }) => {
    const unmade = await diff(local, marine)
    expect(unmade.code).toBe(9)
    expect(unmade.stdout).toBe((await apply(local, marine, '--dry-run')).stdout)
    expect(unmade.stdout).toContain('+ course Marine Biology (BIO-101)\n')
    expect((await local.run('courses get ext:BIO-101')).code).toBe(3)
    await apply(local, marine)
    expect(await local.run('courses diff -f course.json')).toEqual({
      code: 0,
      stdout: 'No changes to course Marine Biology (BIO-101)\n',
      stderr: '',
    })
    const edited = await diff(local, { ...marine, title: 'Oceans' })
    expect(edited).toMatchObject({ code: 9, stderr: '' })
    expect(edited.stdout).toContain('title: "Marine Biology" → "Oceans"')
    expect(JSON.parse((await local.run('courses diff -f course.json -o json')).stdout)).toMatchObject([
      { action: 'update', changes: [{ field: 'title' }] },
    ])
    expect(await shown(local)).toEqual(marine)
  })

  test.for([
    ['BIO-101 -f course.json', '<course> and --file cannot be used together'],
    ['-f course.json --to 2', '--to and --file cannot be used together'],
    ['-f course.json --columns field', '--columns and --file cannot be used together'],
    ['-f course.json --dry-run', '--dry-run and --file cannot be used together'],
    ['BIO-101 1 --prune', '--prune requires --file'],
    ['BIO-101', '<version> is required'],
  ] as const)('refuses courses diff %s', async ([line, message], { local }) => {
    await apply(local, marine)
    const ran = await local.run(`courses diff ${line}`)
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(`error: ${message}\n`)
  })
})

describe('courses validate', () => {
  test('checks files without an academy, and counts what they have', async () => {
    const cli = testCli()
    onTestFinished(cli.remove)
    writeFileSync(join(cli.cwd, 'course.json'), JSON.stringify(marine))
    const valid = await cli.run('courses validate -f course.json')
    expect(valid).toEqual({ code: 0, stdout: '', stderr: 'course.json is valid: 1 course, 4 lessons\n' })
    expect(JSON.parse((await cli.run('courses validate -f course.json -o json')).stdout)).toEqual({
      valid: true,
      files: ['course.json'],
      courses: 1,
      lessons: 4,
    })
  })
})

async function diff(cli: TestCli, course: unknown, more = ''): Promise<Awaited<ReturnType<TestCli['run']>>> {
  writeFileSync(join(cli.cwd, 'course.json'), JSON.stringify(course))
  return cli.run(`courses diff -f course.json ${more}`)
}
