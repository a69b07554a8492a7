"""The researcher's pages and the interface behind them. Everything but the two logins needs a login."""

from fastapi import APIRouter, Depends

from cobandit.web.access import require_admin
from cobandit.web.routes.admin import account, api, designs, keys, login, pages, results

router = APIRouter()
router.include_router(login.router)
# Here as well as there, so that nothing that is ever added to them is open by mistake.
for _guarded in (pages.router, results.router, designs.pages, account.pages, keys.router, api.router):
    router.include_router(_guarded, dependencies=[Depends(require_admin)])
