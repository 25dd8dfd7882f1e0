import { describe, expect } from 'vitest'
import { expressPlatform } from '../../helpers/foreign-platforms/express.ts'
import { gatewayPlatform } from '../../helpers/foreign-platforms/gateway.ts'
import { type ForeignPlatform, json, type PlatformOptions } from '../../helpers/foreign-platforms/platform.ts'
import { railsPlatform } from '../../helpers/foreign-platforms/rails.ts'
import { test } from '../../helpers/foreign-platforms/run.ts'

const styles = [
  ['Express', expressPlatform],
  ['Rails', railsPlatform],
  ['a gateway', (options: PlatformOptions = {}) => gatewayPlatform({ ...options, gzip: false })],
] as const
const hostOf = ({ url }: ForeignPlatform) => new URL(url).host

describe.for(styles)('%s', ([, platformOf]) => {
  test.for([
    ['--status draft', '--status', ['Algebra']],
    ['--difficulty beginner,advanced', '--difficulty', ['Marine Biology', 'Go for Beginners']],
    ['--search BIO', '--search', ['Marine Biology']],
  ] as const)('that ignores filters: %s is done here, and said', async ([flags, named, titles], { run }) => {
    const platform = platformOf()
    const { code, stdout, stderr } = await run(platform, `courses list ${flags} --columns title`)
    expect({ code, titles: stdout.split('\n').filter(Boolean) }).toEqual({ code: 0, titles })
    expect(stderr).toBe(
      `note: ${hostOf(platform)} ignored ${named}; the rows were filtered by this command\n`,
    )
  })

  test('that obeys filters is left in peace', async ({ run }) => {
    const ran = await run(platformOf({ filters: true }), 'courses list --status draft --columns title')
    expect(ran).toEqual({ code: 0, stdout: 'Algebra\n', stderr: '' })
  })

  test('that does not show what a filter is about has its rows left out and counted', async ({ run }) => {
    const platform = platformOf()
    const ran = await run(platform, 'courses list --external-id BIO-101 --status draft -q')
    expect(ran).toEqual({
      code: 1,
      stdout: '',
      stderr: `note: ${hostOf(platform)} ignored --status; the rows were filtered by this command\nerror: Cannot check --external-id: 1 row left out\n  ${hostOf(platform)} sent rows without externalId\n  hint: Use --ignore-filters to get all rows that ${hostOf(platform)} sends\n`,
    })
  })

  test('that does not show what a filter is about is believed where its list is another without it', async ({
    run,
  }) => {
    const platform = platformOf()
    platform.intercept(({ query }, usual) => {
      if (!query.has('external_id')) return undefined
      const others = platform.store.course.splice(1)
      const filtered = usual()
      platform.store.course.push(...others)
      return filtered
    })
    const ran = await run(platform, 'courses list --external-id BIO-101 --columns title')
    expect(ran).toEqual({
      code: 0,
      stdout: 'Marine Biology\n',
      stderr: `note: ${hostOf(platform)} filters by --external-id, but sent rows without externalId\n`,
    })
  })

  test('has all its rows printed with --ignore-filters', async ({ run }) => {
    const line = 'courses list --external-id BIO-101 --ignore-filters --columns title'
    expect(await run(platformOf(), line)).toEqual({
      code: 0,
      stdout: 'Marine Biology\nAlgebra\nGo for Beginners\n',
      stderr: 'note: Rows are not checked against the filters (--ignore-filters)\n',
    })
  })

  test('has no unrelated course changed by what is found for another', async ({ run }) => {
    const platform = platformOf()
    const { stdout } = await run(platform, 'courses list --external-id NONE-SUCH -q')
    const updated = await run(platform, 'courses update --ids - --description HIT', { stdin: stdout })
    expect(updated).toEqual({ code: 0, stdout: '', stderr: 'note: Nothing to do: no ids were given\n' })
    expect(platform.requests.filter(({ method }) => method !== 'GET')).toEqual([])
  })
})

test('a row in the words of the platform is not taken for one of ours', async ({ run }) => {
  const platform = railsPlatform()
  const levels = ['Beginner', 'Advanced', 'Master Class']
  platform.intercept(() =>
    json(
      200,
      levels.map((difficulty, id) => ({ id, title: difficulty, difficulty })),
    ),
  )
  const ran = await run(platform, 'courses list --difficulty beginner --columns title')
  expect(ran).toMatchObject({ code: 1, stdout: 'Beginner\n' })
  expect(ran.stderr).toContain(
    'error: Cannot check --difficulty: 1 row left out\n  rails.example sent rows with difficulty "Master Class"\n',
  )
})

test('a list goes on over pages until enough of its rows are in the filter', async ({ run }) => {
  const platform = railsPlatform({ courses: 30 })
  const { stdout } = await run(platform, 'courses list --search "Course 2" --limit 5 --columns title')
  expect(stdout.split('\n').filter(Boolean)).toEqual([20, 21, 22, 23, 24].map((n) => `Course ${n}`))
})

test('a chosen column that a platform does not send is said to be missing', async ({ run }) => {
  const { code, stderr } = await run(railsPlatform(), 'courses list --columns id,title,externalId,tags')
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'note: The platform does not send externalId, tags\n' })
  const none = railsPlatform({ courses: 0 })
  expect((await run(none, 'courses list --columns externalId')).stderr).toBe('')
})

describe('a reference in a filter', () => {
  const rows = [
    { id: 1, course_id: 7, title: 'Tides' },
    { id: 2, course_id: 8, title: 'Sums' },
  ]
  const withLessons = (course: object | undefined) => {
    const platform = railsPlatform()
    platform.intercept(({ path }) => {
      if (path === '/v1/lessons') return json(200, { lessons: rows })
      return path === '/v1/courses/ext%3ABIO-101' && course ? json(200, course) : undefined
    })
    return platform
  }

  test('is compared by the id that the platform shows for it', async ({ run }) => {
    const platform = withLessons({ data: { id: 7, external_id: 'BIO-101' } })
    const { code, stdout, stderr } = await run(platform, 'lessons list --course ext:BIO-101 --columns title')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Tides\n' })
    expect(stderr).toContain('ignored --course;')
  })

  test('that the platform does not resolve is refused before anything is shown', async ({ run }) => {
    expect(await run(withLessons(undefined), 'lessons list --course ext:BIO-101')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('error: rails.example does not resolve ext:BIO-101\n'),
    })
  })

  test('that is an id is compared as it is', async ({ run }) => {
    const { stdout } = await run(withLessons(undefined), 'lessons list --course 8 --columns title')
    expect(stdout).toBe('Sums\n')
  })
})

test('an academy elsewhere says that it obeys filters, and is asked nothing else', async ({
  remote,
  academy,
}) => {
  const admin = await academy.person('admin')
  await admin.post('/v1/courses', { title: 'Sea', externalId: 'sea', description: 'Tides' })
  await admin.post('/v1/lessons', { title: 'Tides', courseId: 'ext:sea' })
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
  const before = academy.logged.length
  expect(await remote.run('lessons list --course ext:sea --columns title', { env })).toEqual({
    code: 0,
    stdout: 'Tides\n',
    stderr: '',
  })
  expect(academy.logged.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /v1/lessons',
  ])
})
