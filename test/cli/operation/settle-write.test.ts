import { describe, expect } from 'vitest'
import { expressPlatform } from '../../helpers/foreign-platforms/express.ts'
import { gatewayPlatform } from '../../helpers/foreign-platforms/gateway.ts'
import { type ForeignPlatform, json } from '../../helpers/foreign-platforms/platform.ts'
import { railsPlatform } from '../../helpers/foreign-platforms/rails.ts'
import { test } from '../../helpers/foreign-platforms/run.ts'

const written = ({ requests }: ForeignPlatform) => requests.filter(({ method }) => method !== 'GET')
const bodyOf = (platform: ForeignPlatform): unknown => JSON.parse(written(platform)[0]?.text ?? 'null')

/** Responds to these paths besides the eight operations. */
function showing(platform: ForeignPlatform, shown: Readonly<Record<string, object>>): ForeignPlatform {
  platform.intercept(({ method, path }) => {
    const thing = method === 'GET' ? shown[decodeURIComponent(path)] : undefined
    return thing && json(200, thing, 'etag' in thing ? { etag: String(thing.etag) } : {})
  })
  return platform
}

describe('a reference that the platform does not resolve', () => {
  test.for([
    [
      'lessons create --course ext:BIO-101 --title Tides',
      'ext:BIO-101',
      'Use the id of the course: learnctl courses list',
    ],
    [
      'progress set 2 --course ext:BIO-101 --completion 5',
      'ext:BIO-101',
      'Use the id of the course: learnctl courses list',
    ],
    [
      'progress set email:a@b.example --course 1 --completion 5',
      'email:a@b.example',
      'Use the id of the user',
    ],
    [
      'courses update ext:BIO-101 --title Sea',
      'ext:BIO-101',
      'Use the id of the course: learnctl courses list',
    ],
    ['enrollments create --course 1 --user ext:S-1', 'ext:S-1', 'Use the id of the user'],
  ])('is refused before anything is written: %s', async ([line = '', reference = '', hint = ''], { run }) => {
    for (const platform of [expressPlatform(), railsPlatform(), gatewayPlatform()]) {
      const { code, stdout, stderr } = await run(platform, line)
      const host = new URL(platform.url).host
      expect({ code, stdout, written: written(platform) }).toEqual({ code: 2, stdout: '', written: [] })
      expect(stderr).toMatch(`error: ${host} does not resolve ${reference}\n  `)
      expect(stderr).toContain(`\n  hint: ${hint}\n`)
    }
  })

  test('is refused, too, where the platform shows something else for it', async ({ run }) => {
    const platform = showing(expressPlatform(), { '/v1/courses/ext:BIO-101': { _id: '7', title: 'Algebra' } })
    const ran = await run(platform, 'lessons create --course ext:BIO-101 --title Tides')
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('It shows no course for it') })
    expect(written(platform)).toEqual([])
  })
})

describe('a reference that the platform resolves', () => {
  test('is sent as the id of its record', async ({ run }) => {
    const platform = showing(railsPlatform(), {
      '/v1/courses/ext:BIO-101': { id: 2, external_id: 'BIO-101' },
      '/v1/users/email:Ada@school.example': { id: 3, email: 'ada@school.example' },
    })
    await run(platform, 'progress set email:Ada@school.example --course ext:BIO-101 --completion 5')
    expect(written(platform).map(({ path }) => path)).toEqual(['/v1/learners/3/progress'])
    expect(bodyOf(platform)).toMatchObject({ courseId: '2', completionPercentage: 5 })
  })

  test('stays as it is where it is the id itself', async ({ run }) => {
    const platform = showing(expressPlatform(), { '/v1/courses/ext:9': { id: 'ext:9', title: 'Algebra' } })
    await run(platform, 'courses update ext:9 --title Sea')
    expect(written(platform).map(({ path }) => path)).toEqual(['/v1/courses/ext%3A9'])
  })
})

describe('--if-version', () => {
  const update = 'courses update 2 --title Sea --if-version 3'

  test('is refused before anything is written where the platform shows no version', async ({ run }) => {
    const hash = { id: 2, etag: 'W/"2c-6cVMGIrIhGD5pGXdfFLyLNPFAzY"' }
    for (const platform of [expressPlatform(), showing(railsPlatform(), { '/v1/courses/2': hash })]) {
      const { code, stderr } = await run(platform, update)
      expect({ code, written: written(platform) }).toEqual({ code: 2, written: [] })
      expect(stderr).toMatch(
        /^error: \w+\.example does not support --if-version here\n {2}\S.*\n {2}hint: Run /,
      )
    }
  })

  test('is held back by another version, whatever the platform makes of If-Match', async ({ run }) => {
    for (const shown of [
      { id: 2, version: 4 },
      { id: 2, version: '4.00' },
      { id: 2, etag: '"4"' },
    ]) {
      const platform = showing(railsPlatform(), { '/v1/courses/2': shown })
      expect(await run(platform, update)).toMatchObject({
        code: 6,
        stderr: 'error: The current version is 4, but --if-version requires 3\n',
      })
      expect(written(platform)).toEqual([])
    }
  })

  test('is sent where the platform shows that version', async ({ run }) => {
    const platform = showing(railsPlatform(), { '/v1/courses/2': { id: 2, version: '3' } })
    await run(platform, update)
    expect(written(platform).map(({ headers }) => headers['if-match'])).toEqual(['"3"'])
  })
})

describe('an academy elsewhere', () => {
  test('is read once for each reference, and says itself what it does not find', async ({
    remote,
    academy,
  }) => {
    const admin = await academy.person('admin')
    await admin.post('/v1/courses', { title: 'Sea', externalId: 'sea', status: 'published' })
    const { email } = await academy.person('learner')
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
    const before = academy.logged.length
    const set = await remote.run(`progress set email:${email} --course ext:sea --completion 5`, { env })
    expect(set.code).toBe(0)
    expect(academy.logged.slice(before).map(({ method }) => method)).toEqual(['GET', 'GET', 'PUT'])
    expect(await remote.run(`courses update ext:sea --title See --if-version 1`, { env })).toMatchObject({
      code: 0,
    })
    expect(academy.logged.slice(before + 3).map(({ method }) => method)).toEqual(['GET', 'PUT'])
    expect(await remote.run('progress set ext:none --course ext:sea --completion 5', { env })).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^error: Learner ext:none not found\n|^error: User ext:none not found\n/),
    })
  })

  test('resolves references for a key that may only write', async ({ remote, academy }) => {
    const instructor = await academy.person('instructor', ['write'])
    await instructor.post('/v1/courses', { title: 'Sea', externalId: 'sea' })
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: instructor.key }
    const created = await remote.run('lessons create --course ext:sea --title Tides', { env })
    expect(created.code).toBe(0)
  })
})
