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

  test('goes to the academy of another profile, external ids and all', async ({ cli }) => {
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

  test('sends each platform its own credential', async ({ academy, admin, instructor }) => {
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
