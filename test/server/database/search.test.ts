import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { openAcademy } from '../../../src/server/academy/local-academy.ts'
import { fillSearchIndex, sortKey } from '../../../src/server/database/search.ts'
import { onPostgres, type Person, test } from '../../helpers/academy.ts'
import { freshDirectory } from '../../helpers/fresh-directory.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'

const people = [
  ['hannah.smith@school.example', 'Hannah', 'Smith', null],
  ['anna@school.example', 'Anna', 'O’Neil-Parker', 'countess99'],
  ['wang@school.example', '小明', '王', null],
  ['lee@school.example', '민준', '김', null],
  ['sato@school.example', 'さくら', '佐藤', null],
  ['lukasz@school.example', 'ŁUKASZ', 'Żółć', null],
  ['nguyen@school.example', 'Ngọc', 'Nguyễn', null],
  ['odd@school.example', '100% "real" \\o/', "x' or '1'='1", null],
] as const

async function enrol(admin: Person): Promise<void> {
  for (const [email, firstName, lastName, username] of people) {
    const { status } = await admin.post('/v1/users', { email, username, profile: { firstName, lastName } })
    expect(status).toBe(201)
  }
}

async function found(admin: Person, q: string): Promise<string[]> {
  const { body } = await admin.get(`/v1/users?sort=email&q=${encodeURIComponent(q)}`)
  return (body.data as { email: string }[]).map(({ email }) => email.replace(/@.*/, ''))
}

test('three characters or more are found anywhere in a text, in any case and script', async ({ admin }) => {
  await enrol(admin)
  expect(await found(admin, 'ANNA')).toEqual(['anna', 'hannah.smith'])
  expect(await found(admin, 'nnah.sm')).toEqual(['hannah.smith'])
  expect(await found(admin, 'annah smi')).toEqual(['hannah.smith'])
  expect(await found(admin, 'neil-p')).toEqual(['anna'])
  expect(await found(admin, 'tess9')).toEqual(['anna'])
  expect(await found(admin, 'łukasz żó')).toEqual(['lukasz'])
  expect(await found(admin, 'UYỄ')).toEqual(['nguyen'])
  expect(await found(admin, 'Nguyễn'.normalize('NFD'))).toEqual(['nguyen'])
  expect(await found(admin, '小明 王')).toEqual(['wang'])
  expect(await found(admin, 'くら 佐')).toEqual(['sato'])
  expect(await found(admin, 'annasmith')).toEqual([])
})

test('one or two characters are found where a word begins, and every character of Chinese is one', async ({
  admin,
}) => {
  await enrol(admin)
  expect(await found(admin, 'an')).toEqual(['anna'])
  expect(await found(admin, 'sm')).toEqual(['hannah.smith'])
  expect(await found(admin, 'p')).toEqual(['anna'])
  expect(await found(admin, '99')).toEqual(['anna'])
  expect(await found(admin, 'ż')).toEqual(['lukasz'])
  expect(await found(admin, '王')).toEqual(['wang'])
  expect(await found(admin, '明')).toEqual(['wang'])
  expect(await found(admin, '小明')).toEqual(['wang'])
  expect(await found(admin, '준')).toEqual(['lee'])
  expect(await found(admin, 'くら')).toEqual(['sato'])
})

test('a search term is neither a pattern nor an expression', async ({ admin }) => {
  await enrol(admin)
  expect(await found(admin, '100%')).toEqual(['odd'])
  expect(await found(admin, '"real"')).toEqual(['odd'])
  expect(await found(admin, "' or '1")).toEqual(['odd'])
  expect(await found(admin, '\\o/')).toEqual(['odd'])
  for (const q of ['a%b', 'ann_', 'anna OR wang', '"', '*', 'anna*', 'a'.repeat(255)]) {
    expect(await found(admin, q), q).toEqual([])
  }
  expect(await found(admin, '  ')).toHaveLength(people.length + 2)
})

test('a changed record is found by its current text', async ({ admin }) => {
  const { body: user } = await admin.post('/v1/users', {
    email: 'ada@school.example',
    profile: { firstName: 'Ada' },
  })
  await admin.put(`/v1/users/${user.id}`, { profile: { firstName: 'Augusta' } })
  expect(await found(admin, 'augusta')).toEqual(['ada'])
  expect((await admin.get('/v1/users?q=ada%20')).body.data).toHaveLength(1)
  await admin.delete(`/v1/users/${user.id}?erase=true`)
  for (const q of ['augusta', 'ada@school']) {
    expect((await admin.get(`/v1/users?include_deleted=true&q=${q}`)).body.data).toEqual([])
  }
  const { body: course } = await admin.post('/v1/courses', { title: 'Über Logik', tags: ['old', 'kept'] })
  const { status } = await admin.put(`/v1/courses/${course.id}`, {
    title: 'Algebra',
    description: 'Größen',
    tags: ['kept', 'new'],
  })
  expect(status).toBe(200)
  const courses = async (query: string) =>
    (await admin.get(`/v1/courses?${query}`)).body.data.map(({ title }: { title: string }) => title)
  expect(await courses('q=logik')).toEqual([])
  expect(await courses('q=%C3%B6%C3%9Fen')).toEqual(['Algebra'])
  expect(await courses('tag=old')).toEqual([])
  expect([await courses('tag=new'), await courses('tag=kept')]).toEqual([['Algebra'], ['Algebra']])
  await admin.delete(`/v1/courses/${course.id}`)
  expect([await courses('q=algebra'), await courses('tag=new')]).toEqual([[], []])
})

test('titles sort without regard to case and accents, in any script', () => {
  const titles = ['zebra', 'Éclair', 'eclat', 'Łódź', 'Lima', 'Ørsted', 'open', 'straße', 'Strasse 2', '数学']
  const sorted = [...titles].sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))
  expect(sorted).toEqual([
    'Éclair',
    'eclat',
    'Lima',
    'Łódź',
    'open',
    'Ørsted',
    'straße',
    'Strasse 2',
    'zebra',
    '数学',
  ])
})

test('each of many is found, whether or not it is in the index yet', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const add = async (from: number, end: number) => {
    const items = Array.from({ length: end - from }, (_, index) => ({
      email: `pupil-${from + index}-@school.example`,
      profile: { lastName: `Number ${from + index}` },
    }))
    const { body } = await admin.post('/v1/users/batch', { items })
    expect(body.failed ?? 0).toBe(0)
  }
  const move = async (index: number) => {
    expect(await found(admin, `pupil-${index}-`)).toEqual([`pupil-${index}-`])
    await admin.put(`/v1/users/email:pupil-${index}-@school.example`, {
      email: `moved-${index}-@school.example`,
    })
    expect(await found(admin, `pupil-${index}-`)).toEqual([])
    expect(await found(admin, `moved-${index}-`)).toEqual([`moved-${index}-`])
  }
  const isIndexed = async () => {
    const rows = await academy.database.all<{ search_number: number | null }>(
      sql`select search_number from users order by created_at, id`,
    )
    return rows.filter((row) => row.search_number !== null).length
  }
  const before = onPostgres ? 0 : (await academy.database.all(sql`select 1 from users`)).length
  await add(0, 150)
  await move(0)
  await fillSearchIndex(academy.database)
  await add(150, 160)
  for (const index of [1, 149, 150, 159]) await move(index)
  // Ten are too few.
  await fillSearchIndex(academy.database)
  if (!onPostgres) expect(await isIndexed()).toBe(before + 150)
  await add(160, 220)
  await admin.delete('/v1/users/email:moved-149-@school.example?erase=true')
  await admin.delete('/v1/users/email:pupil-219-@school.example?erase=true')
  await fillSearchIndex(academy.database)
  for (const index of [2, 151, 218]) await move(index)
  for (const erased of ['moved-149-', 'pupil-219-']) expect(await found(admin, erased)).toEqual([])
  expect(await found(admin, 'number 159')).toEqual(['moved-159-'])
  // FTS5 verifies its index.
  if (!onPostgres)
    await academy.database.run(sql`insert into users_search (users_search) values ('integrity-check')`)
})

test.skipIf(onPostgres)(
  'what another program writes to the file is found at once',
  async ({ onTestFinished }) => {
    const { path, remove } = freshDirectory()
    onTestFinished(remove)
    await putNewAcademy(`${path}/academy.db`)
    const [writer, reader] = await Promise.all([0, 1].map(() => openAcademy({ path: `${path}/academy.db` })))
    onTestFinished(async () => {
      await Promise.all([writer?.close(), reader?.close()])
    })
    const ask = async (of: typeof writer, method: string, at: string, body?: object) => {
      const headers = { 'content-type': 'application/json' }
      const request = {
        method,
        url: `http://localhost/v1/${at}`,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      }
      return JSON.parse(String((await of?.transport(request))?.body))
    }
    const titlesOf = async (q: string) =>
      (await ask(reader, 'GET', `courses?q=${q}`)).data.map(({ title }: { title: string }) => title)
    for (const title of ['Coral reefs', 'Tidal pools']) await ask(writer, 'POST', 'courses', { title })
    expect(await titlesOf('coral')).toEqual(['Coral reefs'])
    expect(await titlesOf('pools')).toEqual(['Tidal pools'])
  },
)
