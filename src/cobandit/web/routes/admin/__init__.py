"""The researcher's pages and the interface behind them. Everything but the two logins needs a login."""

from fastapi import APIRouter

from cobandit.web.routes.admin import api, login, pages

router = APIRouter()
router.include_router(login.router)
router.include_router(pages.router)
router.include_router(api.router)
