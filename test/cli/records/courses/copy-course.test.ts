import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { type TestCli, test, testCli, transportTo } from '../../../helpers/cli.ts'
import { putNewAcademy } from '../../../helpers/new-academy.ts'

const course = {
  externalId: 'BIO-101',
  title: 'Marine Biology',
  status: 'published',
  tags: ['sea'],
  modules: [
    {
      title: 'Sea',
      lessons: [
        { externalId: 'waves', title: 'Waves', contentBlocks: [{ type: 'text', body: 'Up\nand down' }] },
        {
          title: 'Check',
          assessments: [
            { type: 'quiz', title: 'Q', questions: [{ type: 'numeric', prompt: '1+1', answer: 2 }] },
          ],
        },
      ],
    },
  ],
  lessons: [{ title: 'Farewell', status: 'draft' }],
}

async function shown(cli: TestCli, reference: string, flags = ''): Promise<unknown> {
  const ran = await cli.run(`courses get ${reference} --with-lessons -o json ${flags}`)
  expect(ran.code, ran.stderr).toBe(0)
  return JSON.parse(ran.stdout)
}

async function applied(cli: TestCli): Promise<void> {
  expect(await cli.run('courses apply -f -', { stdin: JSON.stringify(course) })).toMatchObject({ code: 0 })
}

describe('courses copy', () => {
  test('takes lessons along within an academy, as a draft of its own', async ({ local }) => {
    await applied(local)
    const ran = await local.run('courses copy ext:BIO-101 --title "Marine 2" --external-id BIO-102')
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toBe(
      'Copied course Marine Biology (BIO-101) to course Marine 2 (BIO-102), draft, with 3 lessons\n',
    )
    const [module] = course.modules
    const [{ externalId: _, ...waves } = {}, check] = module?.lessons ?? []
    expect(await shown(local, ran.stdout.trim())).toEqual({
      ...course,
      externalId: 'BIO-102',
      title: 'Marine 2',
      status: 'draft',
      modules: [{ ...module, lessons: [waves, check] }],
    })
    expect(await shown(local, 'ext:BIO-101')).toEqual(course)
  })

  test('gives lessons external ids by a rule, and belongs to the next term', { tags: ['slow'] }, async ({
    local,
  }) => {
    await applied(local)
    await local.run('terms create --name "Spring 2026" --external-id 2026S')
    await local.run('terms create --name "Spring 2027" --external-id 2027S')
    await local.run('courses update BIO-101 --term 2026S')
    const ids = async (course: string) => {
      const { stdout } = await local.run(
        `lessons export --course ${course} --columns externalId --format jsonl`,
      )
      return stdout.split('\n').flatMap((line) => /waves[^"]*|[^"]*-waves/.exec(line)?.[0] ?? [])
    }
    const copied = await local.run(
      'courses copy BIO-101 --external-id BIO-2027 --term "Spring 2027" --lesson-ids 2027-{id}',
    )
    expect(copied.code, copied.stderr).toBe(0)
    expect(await ids('BIO-2027')).toEqual(['2027-waves'])
    expect(await shown(local, 'BIO-2027')).toMatchObject({ term: 'ext:2027S' })
    const next = await local.run('courses copy BIO-2027 --external-id BIO-2028 --lesson-ids 2027=2028')
    expect(next.code, next.stderr).toBe(0)
    expect(await ids('BIO-2028')).toEqual(['2028-waves'])
    expect(await shown(local, 'BIO-2028')).toMatchObject({ term: 'ext:2027S' })
  })

  test('moves due dates as far as the first day of the term, unless --keep-dates', {
    tags: ['slow'],
  }, async ({ local }) => {
    await local.run('terms create --name Autumn --external-id A --start-date 2026-08-03')
    await local.run('terms create --name Spring --external-id S --start-date 2027-02-01')
    await local.run('terms create --name Open --external-id O')
    await local.run('courses create --title Sea --external-id SEA --term A')
    await local.run('lessons create --course SEA --title Waves --due-at 2026-09-30')
    await local.run('lessons create --course SEA --title Tides')
    const dueDates = async (course: string) =>
      (await local.run(`lessons list --course ${course} -o csv --columns title,dueAt`)).stdout
    const moved = 'note: Due dates of 1 lesson are 182 days later'
    expect((await local.run('courses copy SEA --term S --dry-run')).stderr).toContain(moved)
    expect((await local.run('courses copy SEA --term S --external-id S1')).stderr).toContain(moved)
    expect(await dueDates('S1')).toContain('Waves,2027-03-31T00:00:00')
    const kept = await local.run('courses copy SEA --term S --external-id S2 --keep-dates')
    expect(kept.stderr).not.toContain('note:')
    expect(await dueDates('S2')).toContain('Waves,2026-09-30T00:00:00')
    expect((await local.run('courses copy SEA --term O --dry-run')).stderr).toContain(
      'note: Due dates of 1 lesson stay as they are: the new term has no first day',
    )
  })

  test('refuses a rule that leaves ids as they are or makes taken ones, before anything is sent', {
    tags: ['slow'],
  }, async ({ local }) => {
    await applied(local)
    const copy = 'courses copy BIO-101 --external-id BIO-102 --lesson-ids'
    for (const [rule, message] of [
      ['{id}', '--lesson-ids must be a pattern with {id} or old=new, not "{id}"'],
      ['2026=2027', 'Lesson Waves (waves) keeps its external id'],
      ['waves=', 'Lesson Waves (waves) gets an external id that is not 1 to 255 characters long'],
    ]) {
      const refused = await local.run(`${copy} ${rule}`)
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message ?? '')])
    }
    expect((await local.run(`${copy} new-{id}`)).code).toBe(0)
    const taken = await local.run('courses copy BIO-101 --external-id BIO-103 --lesson-ids new-{id}')
    expect([taken.code, taken.stderr]).toEqual([
      6,
      expect.stringContaining('hint: Use another rule: --lesson-ids'),
    ])
    expect((await local.run('courses get BIO-103')).code).toBe(3)
  })

  test('goes to the academy of another profile, external ids and all', { tags: ['slow'] }, async ({
    cli,
  }) => {
    await cli.run('profiles add here --database here.db')
    await cli.run('profiles add there --database there.db')
    await cli.run('profiles use here')
    await putNewAcademy(join(cli.cwd, 'there.db'))
    await applied(cli)
    const dry = await cli.run('courses copy ext:BIO-101 --to-profile there --dry-run')
    expect(dry.stdout).toContain('+ course Marine Biology (BIO-101)\n  + lesson Waves (waves)\n')
    const ran = await cli.run('courses copy ext:BIO-101 --to-profile there --status published')
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toContain('there.db, published, with 3 lessons\n')
    expect(await shown(cli, 'ext:BIO-101', '--profile there')).toEqual(course)
    const again = await cli.run('courses copy ext:BIO-101 --to-profile there')
    expect(again.code).toBe(6)
    expect(again.stderr).toContain('Course BIO-101 already exists in ')
    const unknown = await cli.run('courses copy ext:BIO-101 --to-profile nowhere')
    expect(unknown.code).toBe(2)
    expect(unknown.stderr).toContain('Profile "nowhere" not found (from --to-profile)')
  })

  test('says that a learner gets questions without their answers', async ({ academy, admin, remote }) => {
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
    await remote.run('courses apply -f -', { stdin: JSON.stringify(course), env })
    const learner = await academy.person('learner')
    const own = { ...env, LEARNCTL_API_KEY: learner.key }
    const ran = await remote.run('courses get ext:BIO-101 --with-lessons -o yaml', { env: own })
    expect(ran.stderr).toContain(
      'note: The platform does not show you the answer of 1 question; it will be missing\n',
    )
  })

  test('sends each platform its own credential', { tags: ['slow'] }, async ({
    academy,
    admin,
    instructor,
  }) => {
    const sent = new Set<string>()
    const platform = transportTo(academy)
    const cli = testCli({
      transport: (request) => {
        sent.add(`${new URL(request.url).host} ${request.headers['authorization']}`)
        return platform({ ...request, url: request.url.replace('other.example', 'school.example') })
      },
    })
    onTestFinished(() => cli.remove())
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
    await cli.run('courses apply -f -', { stdin: JSON.stringify(course), env })
    await cli.run('profiles add keyless --url https://other.example')
    const ran = await cli.run('courses copy ext:BIO-101 --to-profile keyless', { env })
    expect(ran.code, ran.stderr).toBe(4)
    await cli.run('auth login --with-key --url https://other.example --profile other', {
      stdin: instructor.key,
    })
    // Both profiles lead to the same academy, where the external id is taken.
    const taken = await cli.run('courses copy ext:BIO-101 --to-profile other', { env })
    expect(taken.code, taken.stderr).toBe(6)
    expect([...sent].sort()).toEqual([
      `other.example Bearer ${instructor.key}`,
      `school.example Bearer ${admin.key}`,
    ])
  })
})
