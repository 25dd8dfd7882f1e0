/** Role of a person or an enrolment in an academy; null for people and enrolments that are left out. */
export type AcademyRole = 'learner' | 'instructor' | 'analyst' | null

/** Roles that a mapping may give for a role of a file, besides the roles of its format. */
export const academyRoles = {
  instructor: 'instructor',
  analyst: 'analyst',
  learner: 'learner',
  none: null,
} as const satisfies Readonly<Record<string, AcademyRole>>

/** Null for one that is left out. */
export type EnrollmentRole = Exclude<AcademyRole, 'analyst'>

/** The same roles of enrolments: analysts have none. */
export const enrollmentRoles = Object.entries(academyRoles).map(
  ([name, role]) => [name, role === 'analyst' ? null : role] as const,
)

/** Returns the names that a format has for roles, each with its role. */
export function namesOfRoles<Role extends keyof typeof academyRoles>(
  names: Readonly<Record<Role, string>>,
): [name: string, role: (typeof academyRoles)[Role]][] {
  const all = Object.entries(names) as [Role, string][]
  return all.flatMap(([role, text]) =>
    text.split(' ').map((name) => [name, academyRoles[role]] as [string, (typeof academyRoles)[Role]]),
  )
}

/** Note on people and enrolments that a mapping leaves out. */
export const leftOutByMapping = 'roles mapped to none are left out'

export const roleField = 'role'

/** True for a column with roles, by its name in lower case. */
export function isRoleColumn(column: string): boolean {
  return /^(role\d*|role_id|user_type|type\d+)$/.test(column)
}

/** Returns the end of a problem about a value that has no known meaning: the flag that gives its meaning. */
export function meaningGuess(column: string, value: string, meanings: readonly string[]): string {
  const pair = JSON.stringify(`${column.replace(/\d+$/, '')}:${value}=${meanings.join('|')}`)
  return `; say what it means: --map-value ${pair}`
}

export const roleMeanings = ['learner', 'instructor', 'none'] as const
