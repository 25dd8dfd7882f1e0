export const roles = ['admin', 'instructor', 'learner', 'analyst'] as const
export const userStatuses = ['active', 'suspended', 'deleted'] as const
