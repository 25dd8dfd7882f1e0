import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import type { TestCli } from '../../../helpers/cli.ts'
import { expressPlatform } from '../../../helpers/foreign-platforms/express.ts'
import {
  type ForeignPlatform,
  foreignPlatform,
  json,
  type Style,
} from '../../../helpers/foreign-platforms/platform.ts'
import { cliFor, test } from '../../../helpers/foreign-platforms/run.ts'
import type { Thing } from '../../../helpers/foreign-platforms/store.ts'

/** A platform that shows records in this form, such as `attributes`. */
function showing(host: string, shown: (thing: Thing) => unknown, courses = 1): ForeignPlatform {
  const style: Style = {
    id: (_, n) => n,
    list: (_, things) => json(200, { data: things.map(shown) }),
    created: (_, thing) => json(200, { data: shown(thing) }),
    changed: (_, thing) => json(200, { data: shown(thing) }),
    profile: (user) => json(200, user),
    csv: () => json(404, {}),
    refused: (status, message) => json(status, { message }),
  }
  return foreignPlatform(host, style, { courses })
}

const pascalCase = (thing: Thing) =>
  Object.fromEntries(
    Object.entries(thing).map(([name, value]) => [name.replace(/^./, (first) => first.toUpperCase()), value]),
  )
const styles = {
  external_id: () => expressPlatform({ courses: 1 }),
  ExternalId: () => showing('pascal.example', pascalCase),
  attributes: () =>
    showing('jsonapi.example', ({ id, ...attributes }) => ({ type: 'courses', id, attributes })),
}

const csv = 'externalId,title\nA,Alps\nB,Bays\n'
const changed = csv.replace('Bays', 'Bights')
const titles = ({ store }: ForeignPlatform) => store.course.map(({ title }) => title)
const writes = ({ requests }: ForeignPlatform) => requests.filter(({ method }) => method !== 'GET')

describe.each(Object.entries(styles))('courses on a platform with %s', (_, make) => {
  test('are created once, and found by the next import', async ({ run }) => {
    const platform = make()
    const first = await run(platform, 'courses import -', { stdin: csv })
    expect(first, first.stderr).toMatchObject({ code: 0 })
    expect(first.stderr).toContain('2 created')
    const dry = await run(platform, 'courses import - --dry-run', { stdin: csv })
    expect(dry.stdout.match(/unchanged/g), dry.stdout + dry.stderr).toHaveLength(2)
    expect((await run(platform, 'courses import -', { stdin: changed })).stderr).toContain('updated')
    expect(titles(platform)).toEqual(['Marine Biology', 'Alps', 'Bights'])
    const skipped = await run(platform, 'courses import - --on-exists skip', { stdin: csv })
    expect(skipped.stderr).toContain('2 skipped')
    const failed = await run(platform, 'courses import - --on-exists fail', { stdin: csv })
    expect(failed.code).toBe(8)
    expect(failed.stderr).toContain('2 failed')
    expect(titles(platform)).toEqual(['Marine Biology', 'Alps', 'Bights'])
  })

  test('are found by an import of their export', async ({ run }) => {
    const platform = make()
    await run(platform, 'courses import -', { stdin: csv })
    const [first] = platform.store.course
    const { stdout } = await run(platform, 'courses export')
    expect(stdout.split('\r\n')[1]).toContain(`${platform.url}/v1/courses/${first?.['id']},Marine Biology`)
    const edited = stdout.replace('Marine Biology', 'Oceans')
    const ran = await run(platform, 'courses import -', { stdin: edited })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect(titles(platform)).toEqual(['Oceans', 'Alps', 'Bays'])
    expect(
      writes(platform)
        .map(({ text }) => text)
        .join(),
    ).not.toContain('https://')
  })

  test('are created once by courses apply', async ({ run }) => {
    const platform = make()
    platform.intercept(({ path }) => (path === '/v1/lessons' ? json(200, []) : undefined))
    const file = 'externalId: A\ntitle: Alps\n'
    const apply = (stdin: string) => run(platform, 'courses apply -f -', { stdin })
    expect((await apply(file)).stderr).toContain('Created course')
    expect((await apply(file)).stderr).toContain('No changes to course')
    expect(await apply(file.replace('Alps', 'Andes'))).toMatchObject({ code: 0 })
    expect(titles(platform)).toEqual(['Marine Biology', 'Andes'])
  })
})

const withoutKeys = ({ externalId: _, tags: __, ...thing }: Thing) => thing
const removed = (cli: TestCli) => {
  onTestFinished(() => cli.remove())
  return cli
}
const rejectedIn = ({ cwd }: TestCli) =>
  readFileSync(join(cwd, 'errors.csv'), 'utf8').split('\r\n').slice(1, -1)

test('apply counts the fields that a platform does not keep or changes', async ({ run }) => {
  const platform = showing('lossy.example', ({ tags: _, ...thing }) => ({ ...thing, language: 'xx' }))
  const stdin = `learnctl: 1
courses:
  - {externalId: A, title: Alps, tags: [sea], language: en}
  - {externalId: B, title: Bays, tags: [sea]}
`
  const { code, stderr } = await run(platform, 'apply - --yes', { stdin })
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: [
      'note: lossy.example shows other values than were sent: language (1 record)',
      'note: Cannot check what lossy.example does not show: tags (2 records)',
      'Applied: 2 created, 0 changed, 0 deleted; 0 as declared',
      '',
    ].join('\n'),
  })
})

test('apply goes on after a record that is not shown to be written', async ({ run }) => {
  const platform = showing('silent.example', (thing) => thing)
  platform.intercept(({ method, text }) =>
    method === 'POST' && text.includes('Alps') ? json(200, { code: 1002, msg: 'Wait' }) : undefined,
  )
  const stdin = 'learnctl: 1\ncourses: [{externalId: A, title: Alps}, {externalId: B, title: Bays}]\n'
  const { code, stderr } = await run(platform, 'apply - --yes', { stdin })
  expect(code).toBe(8)
  expect(stderr).toContain('it returned 200 with: Wait; it may have been written')
  expect(titles(platform)).toContain('Bays')
})

describe('a platform that does not keep external ids', () => {
  test('says so, and a second import is refused before anything is sent', async ({ run }) => {
    const platform = showing('lossy.example', withoutKeys)
    const stdin = 'externalId,title,tags\nA,Alps,sea\nB,Bays,sea\n'
    const first = await run(platform, 'courses import -', { stdin })
    expect(first.code, first.stderr).toBe(0)
    expect(first.stderr).toContain(
      'note: Cannot check what lossy.example does not show: externalId (2 records), tags (2 records)\n',
    )
    const sent = writes(platform).length
    for (const flags of ['', '--on-exists skip', '--on-exists fail', '--dry-run']) {
      const { code, stderr } = await run(platform, `courses import - --restart ${flags}`, { stdin })
      expect({ code, stderr }, stderr).toEqual({
        code: 1,
        stderr: expect.stringContaining(
          [
            'error: lossy.example does not show the external ids of courses, so course A cannot be recognised',
            '  It has a course with the same title, "Alps" (2), which would be created again',
            '  hint: Use the URL of the course as its external id, as learnctl courses export writes it',
          ].join('\n'),
        ),
      })
    }
    expect(writes(platform)).toHaveLength(sent)
  })

  test('is refused where other courses on its list have one', async ({ run }) => {
    const platform = showing('lossy.example', (thing) =>
      thing['title'] === 'Marine Biology' ? { ...thing, externalId: 'M' } : withoutKeys(thing),
    )
    expect(await run(platform, 'courses import -', { stdin: csv })).toMatchObject({ code: 0 })
    const sent = writes(platform).length
    const { code, stderr } = await run(platform, 'courses import - --restart', { stdin: csv })
    expect({ code, stderr }, stderr).toEqual({
      code: 1,
      stderr: expect.stringContaining(
        'error: lossy.example does not show the external ids of all courses, so course A cannot be recognised\n',
      ),
    })
    expect(writes(platform)).toHaveLength(sent)
  })

  test('knows users by their addresses', async ({ run }) => {
    const platform = showing('lossy.example', withoutKeys)
    const users: { Email: string; Id: number }[] = []
    platform.intercept(({ method, path, text }) => {
      if (!path.startsWith('/v1/users')) return undefined
      if (method === 'GET') return path === '/v1/users' ? json(200, { items: users }) : json(404, {})
      const user = users.find(({ Id }) => path === `/v1/users/${Id}`)
      if (user) return json(200, user)
      const made = { Email: String(JSON.parse(text).email).toUpperCase(), Id: users.length + 1 }
      users.push(made)
      return json(201, made)
    })
    const stdin = 'email,firstName,role,externalId\na@b.example,A,learner,A\nc@d.example,C,learner,C\n'
    const load = (flags = '') => run(platform, `users import - --restart ${flags}`, { stdin })
    const first = await load()
    expect(first, first.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining('2 created') })
    const again = await load()
    expect(again, again.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining('2 updated') })
    expect((await load('--on-exists skip')).stderr).toContain('2 skipped')
    expect(users.map(({ Id }) => Id)).toEqual([1, 2])
  })

  test('is refused a second courses apply', async ({ run }) => {
    const platform = showing('lossy.example', withoutKeys)
    platform.intercept(({ path }) => (path === '/v1/lessons' ? json(200, []) : undefined))
    const apply = () => run(platform, 'courses apply -f -', { stdin: 'externalId: A\ntitle: Alps\n' })
    const first = await apply()
    expect(first, first.stderr).toMatchObject({ code: 0 })
    expect(first.stderr).toContain('Cannot check what lossy.example does not show: externalId (1 record)')
    expect(await apply()).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be recognised') })
    expect(titles(platform)).toEqual(['Marine Biology', 'Alps'])
  })
})

describe('rows whose answer shows', () => {
  test('another value are counted at the end', async ({ run }) => {
    const platform = showing('upper.example', (thing) => ({ ...thing, difficulty: 'expert' }))
    const stdin = 'externalId,title,difficulty\nA,Alps,beginner\nB,Bays,beginner\n'
    const ran = await run(platform, 'courses import -', { stdin })
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toContain(
      'note: upper.example shows other values than were sent: difficulty (2 records)\n',
    )
  })

  test('no more than a word are counted at the end', async ({ run }) => {
    const platform = styles.external_id()
    platform.intercept(({ method }, usual) => {
      if (method === 'GET') return undefined
      usual()
      return json(200, { message: 'Saved' })
    })
    const ran = await run(platform, 'courses import -', { stdin: csv })
    expect(ran.stderr).toContain('note: express.example confirmed 2 records without showing them\n')
    expect(ran.stderr).toContain('2 created')
  })

  test('another external id are failed', async () => {
    const platform = styles.external_id()
    const cli = removed(cliFor(platform))
    platform.intercept(({ method }) =>
      method === 'GET' ? undefined : json(200, { id: 'u99', email: 'c@d.example', externalId: 'zz' }),
    )
    const ran = await cli.run('courses import - --errors errors.csv', { stdin: csv })
    expect(ran).toMatchObject({ code: 8, stderr: expect.stringContaining('2 failed') })
    expect(rejectedIn(cli).join()).toContain('is about another record: externalId is')
  })

  test('another learner are failed', async () => {
    const platform = styles.external_id()
    const cli = removed(cliFor(platform))
    platform.intercept(({ method }) =>
      method === 'GET' ? undefined : json(200, { learner_id: 9, course_id: 3, completion_percentage: 3 }),
    )
    const stdin = 'learnerId,courseId,completionPercentage\n7,3,40\n'
    const ran = await cli.run('progress import - --errors errors.csv', { stdin })
    expect(ran).toMatchObject({ code: 8, stderr: expect.stringContaining('1 failed') })
    expect(rejectedIn(cli).join()).toContain('is about another record: learnerId is 9')
  })
})

describe('rows that may have been written', () => {
  test('are looked up by an import of their file', async () => {
    const platform = styles.external_id()
    const cli = removed(cliFor(platform))
    let answers = 0
    platform.intercept(({ method, path }, usual) => {
      if (method !== 'POST' || path !== '/v1/courses') return undefined
      answers += 1
      // The second course is created but not shown, the third one neither.
      if (answers === 2) usual()
      return answers === 2 || answers === 3 ? json(200, { reference: answers }) : usual()
    })
    const stdin = 'externalId,title\nA,Alps\nB,Bays\nC,Capes\nD,Dunes\n'
    const first = await cli.run('courses import - --concurrency 1 --errors errors.csv', { stdin })
    expect(first.code, first.stderr).toBe(8)
    const rejected = rejectedIn(cli)
    expect(rejected).toHaveLength(2)
    for (const row of rejected) expect(row).toMatch(/^[BC],.*,unconfirmed,.*it may have been written/)
    const again = await cli.run('courses import errors.csv --on-exists fail')
    expect(again, again.stderr).toMatchObject({ code: 0 })
    expect(again.stderr).toContain('2 created')
    expect(titles(platform).toSorted()).toEqual(['Alps', 'Bays', 'Capes', 'Dunes', 'Marine Biology'])
  })

  test('are not sent again where nothing can look them up', async ({ run }) => {
    const platform = styles.external_id()
    platform.intercept(({ method }) => (method === 'POST' ? json(200, {}) : undefined))
    const first = await run(platform, 'users import - --on-exists fail --errors errors.csv', {
      stdin: 'email\na@b.example\n',
    })
    expect(first.code, first.stderr).toBe(8)
    platform.intercept(() => undefined)
    const sent = writes(platform).length
    const again = await run(platform, 'users import errors.csv --on-exists fail')
    expect(again, again.stderr).toMatchObject({ code: 8, stderr: expect.stringContaining('1 failed') })
    expect(writes(platform)).toHaveLength(sent)
  })

  test('end the import after three in a row with one answer', async ({ run }) => {
    const platform = styles.external_id()
    const refusal = { code: 1002, msg: 'Token expired' }
    platform.intercept(({ method }) => (method === 'POST' ? json(200, refusal) : undefined))
    const stdin = `externalId,title\n${[1, 2, 3, 4, 5, 6].map((n) => `${n},Course ${n}\n`).join('')}`
    const ran = await run(platform, 'courses import - --concurrency 1', { stdin })
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('Stopped after 2 of 6 rows; run the same command to continue')
    expect(ran.stderr).toContain('it returned 200 with: Token expired')
    expect(writes(platform)).toHaveLength(3)
  })
})

test('references in a file are replaced by the ids that a platform shows', async ({ run }) => {
  const platform = styles.external_id()
  await run(platform, 'courses import -', { stdin: csv })
  const [own, alps] = platform.store.course
  const references = ['ext:A', `ext:${platform.url}/v1/courses/${own?.['id']}`, own?.['id']]
  const stdin = `courseId,title\n${references.map((reference) => `${reference},Tides\n`).join('')}`
  const ran = await run(platform, 'lessons import - --on-exists fail', { stdin })
  expect(ran.code, ran.stderr).toBe(0)
  expect(platform.store.lesson.map(({ courseId }) => courseId)).toEqual([
    alps?.['id'],
    own?.['id'],
    own?.['id'],
  ])
})
