import { describe, expect } from 'vitest'
import { describedPlatform, json, styleNames } from '../helpers/foreign-platforms/platforms.ts'
import { test } from '../helpers/foreign-platforms/run.ts'

const academy = 'learnctl: 1\ncourses:\n  - { externalId: A, title: Sea }\n'
/** Users of Moodle. */
const roster = 'username,firstname,lastname,email,course1\nada,Ada,Lovelace,ada@school.example,SEA\n'

describe.each(styleNames)('a platform of the style %s', (name) => {
  test('takes an import of users twice without doubles', async ({ run }) => {
    const platform = describedPlatform(name)
    const stdin = 'email,role\nann@school.example,learner\nnew@school.example,learner\n'
    const first = await run(platform, 'users import -', { stdin })
    expect(first.stderr).toContain('1 created')
    platform.settle()
    const second = await run(platform, 'users import -', { stdin })
    expect([first.code, second.code], second.stderr).toEqual([0, 0])
    expect(second.stderr).not.toMatch(/[1-9] created/)
    expect(platform.store.users).toHaveLength(4)
  })

  test('takes an import of courses twice without doubles', async ({ run }) => {
    const platform = describedPlatform(name)
    const stdin = 'externalId,title\nX-2,Course 2\nX-90,Sea\n'
    const first = await run(platform, 'courses import -', { stdin })
    platform.settle()
    const second = await run(platform, 'courses import -', { stdin })
    expect([first.code, second.code], first.stderr + second.stderr).toEqual([0, 0])
    expect(platform.store.courses).toHaveLength(8)
  })

  test('exports exactly the rows of a day, as CSV and as JSON', async ({ run }) => {
    const platform = describedPlatform(name)
    const line = 'analytics export --start-date 2026-02-03 --end-date 2026-02-03'
    const csv = await run(platform, line)
    const json = await run(platform, `${line} -o json`)
    expect([csv.code, json.code], csv.stderr + json.stderr).toEqual([0, 0])
    expect(csv.stdout.trim().split('\n')).toHaveLength(3)
    const rows = JSON.parse(json.stdout) as { courseId: string; completionPercentage: number }[]
    const { newId } = platform.style
    expect(rows.map(({ courseId, completionPercentage }) => [courseId, completionPercentage])).toEqual([
      [String(newId('courses', 2)), 25],
      [String(newId('courses', 3)), 37.5],
    ])
  })

  test('is not trusted with a day that it ignores', async ({ run }) => {
    const platform = describedPlatform(name)
    platform.options.ignoresDays = true
    const line = 'analytics export --start-date 2026-02-03 --end-date 2026-02-03'
    for (const format of ['csv', 'json']) {
      const refused = await run(platform, `${line} -o ${format} --file rows`)
      expect(refused.code, refused.stderr).toBe(1)
      expect(refused.stderr).toMatch(/did not filter: \d of [34] rows/)
      const all = await run(platform, `${line} -o ${format} --ignore-filters`)
      expect(all.code, all.stderr).toBe(0)
    }
  })

  test('takes what is created and changed', async ({ run }) => {
    const platform = describedPlatform(name)
    const { newId } = platform.style
    const lines = [
      'courses create --title Sea --difficulty advanced',
      `courses update ${newId('courses', 1)} --title Ocean`,
      'users create --email new@school.example --role learner',
      `lessons create --course ${newId('courses', 1)} --title Tides`,
      `progress set ${newId('users', 2)} --course ${newId('courses', 1)} --completion 37.5`,
    ]
    for (const line of lines) {
      const { code, stderr } = await run(platform, line)
      expect(code, `${line}: ${stderr}`).toBe(0)
    }
    const { courses, users, lessons, activity } = platform.store
    const stored = JSON.stringify([courses[0], courses.at(-1), users.at(-1), lessons[0]])
    for (const word of ['Ocean', 'Sea', 'new@school.example', 'Tides']) expect(stored).toContain(word)
    expect(Object.values(activity.at(-1) ?? {})).toContain(name === 'hal' ? 0.375 : 37.5)
  })

  test('refuses a credential', async ({ run }) => {
    const platform = { ...describedPlatform(name), key: 'wrong' }
    expect((await run(platform, 'users me')).code).toBe(4)
    expect((await run(platform, 'doctor')).code).not.toBe(0)
    const { code } = await run(platform, 'auth login --with-key', { stdin: 'wrong' })
    expect(code).toBe(4)
  })

  test.for(['undo 3f8c6a', 'undo list', 'apply input --yes', 'roster apply input --yes', 'dump'])(
    'gets no more than GET from %s',
    async (line, { run }) => {
      const platform = describedPlatform(name)
      const stdin = line.startsWith('roster') ? roster : academy
      const { code, stderr } = await run(platform, line, { stdin })
      expect(code, stderr).toBe(1)
      expect(stderr).toContain('is not a learnctl server')
      expect(platform.writes()).toEqual([])
    },
  )
})

test.for([
  'courses create --title Sea',
  'courses publish 7',
  'lessons create --course 3 --title Tides',
  'users create --email new@school.example',
  'users update 2 --email new@school.example',
  'progress set 2 --course 3 --completion 40',
])(
  'a write that the response does not show, or shows of another record, fails: %s',
  async (line, { run }) => {
    const platform = describedPlatform('natural')
    const silent = [json(200, { success: true }), json(202, null), { status: 204, headers: {}, body: null }]
    const another = /update|publish/.test(line) ? [json(200, { id: 99 })] : []
    for (const body of [...silent, ...another]) {
      platform.options.answer = ({ method }) => (method === 'GET' ? undefined : body)
      const { code, stdout, stderr } = await run(platform, line)
      expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/It may have succeeded|showed the record 99/)
    }
    expect(platform.writes()).toHaveLength(silent.length + another.length)
  },
)

test.for(['users me', 'doctor', 'auth login --with-key'])(
  'a credential refused with 200 fails: %s',
  async (line, { run }) => {
    const platform = describedPlatform('natural')
    platform.options.answer = ({ path }) => (path === '/v1/user/profile' ? json(200, {}) : undefined)
    const { code, stdout, stderr } = await run(platform, line, { stdin: 'key-of-the-tests' })
    expect(code, stdout + stderr).not.toBe(0)
  },
)

test.for([
  [
    'users import -',
    'email\nann@school.example\n',
    'users',
    { id: 1, mail: 'ann@school.example' },
    'user: { ',
  ],
  ['courses import -', 'externalId,title\nA,Sea\n', 'courses', { id: 1, label: 'Sea' }, 'course: { '],
] as const)(
  '%s refuses a list that shows none of the keys',
  async ([line, stdin, kind, row, hint], { run }) => {
    const platform = describedPlatform('natural')
    platform.store[kind].splice(0, 99, row)
    const { code, stderr } = await run(platform, line, { stdin })
    expect(code, stderr).toBe(1)
    expect(stderr).toContain(`records: { ${hint}`)
    expect(platform.writes()).toEqual([])
  },
)
